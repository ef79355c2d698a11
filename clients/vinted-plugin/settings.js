// What the options page asks for and is kept; the key isn't.

export const defaults = {api: "", socket: "", origin: "", images: "", job: ""};

export async function settings() {
  return {
    ...await chrome.storage.local.get(defaults),
    ...await chrome.storage.session.get({key: "", on: false}),
  };
}
