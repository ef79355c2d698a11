// Reference plug-in: one WebSocket to Spinneret, one marketplace, the seller's own session.
// Nothing begins by itself: the seller connects it by its button, and every task is one that the
// seller asked for. Vinted's terms may forbid it; whoever uses it decides that for themselves.

import {Protocol} from "./protocol.js";

const PAUSE_MS = 1500; // between two requests: no faster than a person
const RECONNECT_MS = 3000;
let socket = null;
let last = Promise.resolve();

const memory = {
  get: async (key) => (await chrome.storage.local.get(key))[key],
  set: (key, answer) => chrome.storage.local.set({[key]: answer}),
};

const settings = async () => chrome.storage.sync.get({address: "", ticket: "", origin: ""});

async function request(task) {
  const {origin} = await settings();
  const anon = await chrome.cookies.get({url: origin, name: "anon_id"});
  const page = await (await fetch(origin, {credentials: "include"})).text();
  const csrf = /"CSRF_TOKEN\\?":\\?"([^"\\]+)/.exec(page)?.[1] ?? "";
  const headers = {"X-CSRF-Token": csrf, "X-Anon-Id": anon?.value ?? "", Accept: "application/json"};
  let body;
  if (task.photo_url) {
    const photo = await (await fetch(task.photo_url)).blob();
    body = new FormData();
    body.set("photo[type]", "item");
    body.set("photo[file]", photo, "photo.jpg");
  } else if (task.method !== "GET" && task.method !== "DELETE") {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(task.body);
  }
  const answer = await fetch(origin + task.path, {
    method: task.method, headers, body, credentials: "include",
  });
  const data = await answer.json().catch(() => ({}));
  return {status: answer.status, body: short(data)};
}

// A message has at most 4096 characters: ids and addresses are all that is asked for.
function short(data) {
  const pick = (from) => from && {id: from.id, url: from.url, title: from.title};
  if (data.draft) return {draft: pick(data.draft)};
  if (data.item) return {item: pick(data.item)};
  return {id: data.id, message: data.message, code: data.code};
}

function act(task) {
  last = last.then(() => new Promise((done) => setTimeout(done, PAUSE_MS))).then(() => request(task));
  return last;
}

async function connect() {
  const {address, ticket} = await settings();
  if (!address || socket) return;
  socket = new WebSocket(`${address}?ticket=${encodeURIComponent(ticket)}`);
  const say = (message) => socket?.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));
  const protocol = new Protocol({say, act, memory, marketplace: "vinted"});
  socket.onopen = () => protocol.open();
  socket.onmessage = (event) => protocol.hear(JSON.parse(event.data));
  socket.onclose = () => { socket = null; setTimeout(connect, RECONNECT_MS); };
}

chrome.action.onClicked.addListener(connect);
