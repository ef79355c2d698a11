// Addresses of the API, whose root is the folder above the console's page.
const ROOT = new URL("../", location.href.split("#")[0]);

export const address = (path) => new URL(path, ROOT).href;
