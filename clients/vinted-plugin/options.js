// Where to connect, and for which job. The key stays in the browser's memory; the rest is kept.

import {defaults} from "./settings.js";

const form = document.getElementById("form");
const said = document.getElementById("said");

const kept = await chrome.storage.local.get(defaults);
for (const name of Object.keys(defaults)) form.elements[name].value = kept[name];

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const given = Object.fromEntries(new FormData(form));
  given.api = given.api.replace(/\/+$/, ""); // it may end with the stage's name
  given.origin = new URL(given.origin).origin;
  // First of all: a permission can be asked for only while the click counts.
  const origins = [given.api, given.origin, given.images].map((each) => `${new URL(each).origin}/*`);
  if (!await chrome.permissions.request({origins})) {
    said.value = "without these permissions nothing can be sent";
    return;
  }
  const {key, ...rest} = given;
  await chrome.storage.local.set(rest);
  await chrome.storage.session.set({key});
  said.value = "saved: the plug-in's button connects";
});
