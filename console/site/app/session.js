// Who is signed in. The credential is only in memory; the browser holds the refresh token in a
// cookie that no script can read.
import { computed, signal } from "@preact/signals";
import { address } from "./address.js";

// Access token or key of the caller; null while nobody is signed in.
export const credential = signal(null);
// The caller as GET /api/v1/auth/me describes it; null while nobody is signed in.
export const caller = signal(null);
// Why the last session ended, for the sign-in page.
export const farewell = signal("");
// Whether the cookie has been tried after the page was loaded.
export const isReady = signal(false);

let hasCookie = false;
const tabs = "BroadcastChannel" in globalThis ? new BroadcastChannel("spinneret-session") : null;

const permissions = computed(() => new Set(caller.value?.permissions ?? []));
const scopes = computed(() => new Set(caller.value?.scopes ?? []));

// Return whether the caller may do something: `may("crawl")`, or `may("crawl", "write")` where a
// key also needs a scope.
export const may = (permission, scope = "read") =>
  permissions.value.has(permission) &&
  (caller.value?.kind === "user" || scopes.value.has("admin") || scopes.value.has(scope) ||
    (scope === "read" && scopes.value.has("write")));

const send = async (path, body, secret) => {
  const response = await fetch(address(path), {
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...(secret && { Authorization: `Bearer ${secret}` }),
      ...(body !== undefined && { "Content-Type": "application/json" }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
    referrerPolicy: "no-referrer",
  });
  const text = await response.text();
  let answer = {};
  try {
    answer = text ? JSON.parse(text) : {};
  } catch {
    // An answer of something before the API, such as a proxy.
  }
  return { ok: response.ok, status: response.status, answer };
};

const begin = async (secret) => {
  const { ok, answer, status } = await send("api/v1/auth/me", undefined, secret);
  if (!ok) return { status, ...answer };
  credential.value = secret;
  caller.value = answer;
  farewell.value = "";
  return null;
};

// Sign in; return null, or the error's status and text.
export const signIn = async (tenant, email, password) => {
  const { ok, status, answer } = await send("api/v1/auth/login", { tenant, email, password, cookie: true });
  if (!ok) return { status, ...answer };
  hasCookie = true;
  return begin(answer.access_token);
};

// Use a key until the page is closed; return null, or the error's status and text.
export const useKey = async (key) => {
  hasCookie = false;
  return begin(key);
};

// Choose the password of an invited person; return the person, or throw.
export const accept = async (invitation, password) => {
  const { ok, answer } = await send("api/v1/auth/accept", { invitation, password });
  if (!ok) throw new Error(answer.error ?? "the invitation can't be used");
  return answer;
};

const exclusively = (work) =>
  navigator.locks ? navigator.locks.request("spinneret-refresh", work) : work();

let renewal = null;

// Replace an access token that was refused; return whether there is a new one. Requests that fail
// at the same time share one renewal, and tabs renew one after the other.
export const renew = (refused) => {
  if (credential.value !== refused) return Promise.resolve(credential.value !== null);
  if (!hasCookie) return Promise.resolve(false);
  renewal ??= exclusively(async () => {
    const { ok, answer } = await send("api/v1/auth/refresh", {});
    if (ok) credential.value = answer.access_token;
    return ok;
  })
    .catch(() => false)
    .finally(() => {
      renewal = null;
    });
  return renewal;
};

// Go on with the session of the browser's cookie, if it has one.
export const resume = async () => {
  try {
    const { ok, answer } = await exclusively(() => send("api/v1/auth/refresh", {}));
    if (ok) {
      hasCookie = true;
      await begin(answer.access_token);
    }
  } catch {
    farewell.value = "The server can't be reached. Check your connection and reload the page.";
  }
  isReady.value = true;
};

// Forget the credential and say why.
export const end = (reason = "") => {
  credential.value = null;
  caller.value = null;
  hasCookie = false;
  farewell.value = reason;
};

// Sign out here and in all tabs of this browser.
export const signOut = async () => {
  if (hasCookie) await send("api/v1/auth/logout", {}).catch(() => null);
  end("You are signed out.");
  tabs?.postMessage("signed out");
};

tabs?.addEventListener("message", () => hasCookie && end("You are signed out."));
