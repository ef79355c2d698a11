// Reference plug-in: one WebSocket to Spinneret, one marketplace, the seller's own session.
// Nothing begins by itself: the seller connects it by its button, and every task is one that the
// seller asked for. Vinted's terms may forbid it; whoever uses it decides that for themselves.

import {short} from "./answers.js";
import {Protocol} from "./protocol.js";
import {settings} from "./settings.js";

const PAUSE_MS = 1500; // between two requests: no faster than a person
const RENEW_MS = 60_000; // a connection is opened anew so long before its ticket ends
const RECONNECT_MS = 3000;
const HELLO_MS = 20_000; // a worker whose socket is silent for 30 s is stopped
const LOOK = {periodInMinutes: 0.5}; // one that was stopped all the same is woken by an alarm
let socket = null;
let opening = false;
let endsAt = 0;
let last = Promise.resolve();

const memory = {
  get: async (key) => (await chrome.storage.local.get(`answer ${key}`))[`answer ${key}`],
  set: (key, answer) => chrome.storage.local.set({[`answer ${key}`]: answer}),
  drop: (key) => chrome.storage.local.remove(`answer ${key}`),
  all: async () => Object.entries(await chrome.storage.local.get(null))
    .filter(([name]) => name.startsWith("answer "))
    .map(([name, answer]) => [name.slice("answer ".length), answer]),
};

async function browserName() {
  const {browser = crypto.randomUUID()} = await chrome.storage.local.get("browser");
  await chrome.storage.local.set({browser});
  return browser;
}

// One for as long as this worker lives: over reconnections it knows what it is at.
const protocol = browserName().then((browser) => new Protocol({
  send: (message) => socket?.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message)),
  act, memory, marketplace: "vinted", browser,
}));

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
  const data = await answer.json().catch(() => null); // what can't be read proves nothing
  return {status: answer.status, body: short(data)};
}

function act(task) {
  const pause = () => new Promise((done) => setTimeout(done, PAUSE_MS));
  const done = last.then(pause).then(() => request(task));
  last = done.catch(() => undefined); // the next one isn't to blame
  return done;
}

async function stop(badge) {
  await chrome.storage.session.set({on: false});
  await chrome.alarms.clear("look");
  await chrome.action.setBadgeText({text: badge});
  socket?.close();
}

// A ticket is for one job and 15 minutes; null while there is none to be had.
async function newTicket({api, key, job}) {
  const path = `${api}/api/v1/jobs/${encodeURIComponent(job)}/tickets`;
  const answer = await fetch(path, {method: "POST", headers: {"X-API-Key": key}}).catch(() => null);
  if (answer?.status === 201) return answer.json();
  if ([401, 403, 404].includes(answer?.status)) await stop("!"); // it won't get better by itself
  return null;
}

async function connect() {
  const given = await settings();
  if (!given.on || socket || opening) return;
  opening = true;
  try {
    const ticket = await newTicket(given);
    if (ticket === null) return;
    endsAt = Date.parse(ticket.expires_at);
    const it = await protocol;
    const made = new WebSocket(`${given.socket}?ticket=${encodeURIComponent(ticket.ticket)}`);
    socket = made;
    let greeting = null;
    made.onopen = () => {
      it.open();
      greeting = setInterval(() => it.open(), HELLO_MS);
    };
    made.onmessage = (event) => it.receive(JSON.parse(event.data));
    made.onclose = () => {
      clearInterval(greeting);
      if (socket !== made) return;
      socket = null;
      if (greeting !== null) setTimeout(look, RECONNECT_MS); // a refused one waits for the alarm
    };
  } finally {
    opening = false;
  }
}

async function look() {
  if (socket && Date.now() > endsAt - RENEW_MS) {
    socket.close();
    socket = null;
  }
  await connect();
}

chrome.alarms.onAlarm.addListener(look);

chrome.action.onClicked.addListener(async () => {
  const given = await settings();
  if (given.on) return stop("");
  if (!given.key || !given.job) return chrome.runtime.openOptionsPage();
  await chrome.storage.session.set({on: true});
  await chrome.alarms.create("look", LOOK);
  await chrome.action.setBadgeText({text: "on"});
  await look();
});
