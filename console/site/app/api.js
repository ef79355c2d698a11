// Requests to the API.
import { address } from "./address.js";
import { credential, end, renew } from "./session.js";

const LONGEST_WAIT_SECONDS = 15;

// An answer that isn't a success, or none at all (`status` 0).
export class ApiError extends Error {
  constructor(status, { error, code, details, request_id: requestId } = {}, retryAfter = 0) {
    super(error ?? `the server answered ${status}`);
    this.status = status;
    this.code = code ?? "";
    this.details = details ?? {};
    this.requestId = requestId ?? "";
    this.retryAfter = retryAfter;
  }

  // Faults of single fields, by the field's path.
  get fields() {
    const faults = this.details.fields ?? [];
    return Object.fromEntries(faults.map(({ path, message }) => [path, message]));
  }
}

const query = (values) => {
  const given = Object.entries(values ?? {}).filter(([, value]) => value !== "" && value != null);
  return given.length ? `?${new URLSearchParams(given)}` : "";
};

// Return the response to one request; throw ApiError if the server can't be reached.
const ask = async (method, path, { body, values, headers, signal }) => {
  try {
    return await fetch(address(path) + query(values), {
      method,
      signal,
      headers: {
        ...(credential.value && { Authorization: `Bearer ${credential.value}` }),
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      referrerPolicy: "no-referrer",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, { error: "The server can't be reached. Check your connection." });
  }
};

const parsed = async (response) => {
  const text = await response.text();
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return text;
  }
};

export const failure = async (response) => {
  const answer = await parsed(response);
  const wait = Number(response.headers.get("Retry-After")) || 0;
  return new ApiError(response.status, answer?.error ? answer : {}, wait);
};

const pause = (seconds) => new Promise((resume) => setTimeout(resume, seconds * 1000));

// Return a successful response. An expired access token is renewed once; a read that came too
// early is repeated once, after the time that the server names.
export const request = async (method, path, options = {}) => {
  let response = await ask(method, path, options);
  if (response.status === 401 && credential.value) {
    if (await renew(credential.value)) response = await ask(method, path, options);
    if (response.status === 401) end("Your session has ended. Sign in again to go on.");
  }
  const wait = Number(response.headers.get("Retry-After")) || 1;
  if (response.status === 429 && method === "GET" && wait <= LONGEST_WAIT_SECONDS) {
    await pause(wait);
    response = await ask(method, path, options);
  }
  if (!response.ok) throw await failure(response);
  return response;
};

const json = async (...words) => parsed(await request(...words));

export const api = {
  get: (path, values, options) => json("GET", path, { ...options, values }),
  post: (path, body = {}, options) => json("POST", path, { ...options, body }),
  put: (path, body, options) => json("PUT", path, { ...options, body }),
  patch: (path, body, options) => json("PATCH", path, { ...options, body }),
  remove: (path, options) => json("DELETE", path, options ?? {}),
};
