"use strict";

const filter = document.getElementById("filter");
const sections = [...document.querySelectorAll("section")];
let library;

function load() {
  library ??= new Promise((resolve, reject) => {
    const style = document.createElement("link");
    style.rel = "stylesheet";
    style.href = "docs/swagger-ui.css";
    const script = document.createElement("script");
    script.src = "docs/swagger-ui.js";
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(style, script);
  });
  return library;
}

// Each area loads its part of the document when it is opened for the first time.
function show(section) {
  section.shown ??= load().then(() => new Promise((resolve) => {
    SwaggerUIBundle({
      url: "docs/" + section.id + ".json",
      domNode: section.querySelector("details > div"),
      docExpansion: "none",
      defaultModelsExpandDepth: -1,
      showExtensions: true,
      validatorUrl: null,
      onComplete: resolve,
    });
  }));
  return section.shown;
}

async function open(section, tag, operation) {
  section.querySelector("details").open = true;
  await show(section);
  const group = document.getElementById("operations-tag-" + tag);
  if (group?.dataset.isOpen === "false") group.click();
  requestAnimationFrame(() => {
    const found = document.getElementById("operations-" + tag + "-" + operation);
    found?.scrollIntoView();
    if (found && !found.classList.contains("is-open")) {
      found.querySelector("button")?.click();
    }
  });
}

for (const section of sections) {
  section.querySelector("details").addEventListener("toggle", (event) => {
    if (event.target.open) show(section);
  });
  section.addEventListener("click", (event) => {
    const { tag, operation } = event.target.dataset;
    if (operation) open(section, tag, operation);
  });
}

filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const section of sections) {
    const items = [...section.querySelectorAll("li")];
    for (const item of items) {
      const text = item.textContent.toLowerCase();
      item.hidden = !words.length || !words.every((word) => text.includes(word));
    }
    section.querySelector("ul").hidden = !words.length;
    section.hidden = words.length > 0 && items.every((item) => item.hidden);
  }
});
