// The frame of all screens: sign-in, navigation, the chosen screen.
import { html, render } from "html";
import { useEffect, useState } from "preact/hooks";
import { Question, Toasts } from "./dialog.js";
import { Failure, Loading } from "./parts.js";
import { href, place } from "./router.js";
import { caller, isReady, may, resume, signOut } from "./session.js";
import { SCREENS } from "./screens.js";

const NotFound = () => html`<h1 tabindex="-1">No such page</h1><p><a href=${href("home")}>Go to Home</a></p>`;

// The screen of a place; its module is loaded at first use.
const Screen = ({ screen, parts, query }) => {
  const [loaded, setLoaded] = useState({ name: "", View: null, error: null });
  useEffect(() => {
    let isGone = false;
    screen.load().then(
      (module) => isGone || setLoaded({ name: screen.name, View: module.default, error: null }),
      () => isGone || setLoaded({ name: screen.name, View: null, error: new Error("This page can't be loaded. The console may have been updated: reload it.") }),
    );
    return () => {
      isGone = true;
    };
  }, [screen]);
  const path = parts.join("/");
  useEffect(() => {
    const frame = requestAnimationFrame(() => document.querySelector("main h1")?.focus({ preventScroll: true }));
    scrollTo(0, 0);
    return () => cancelAnimationFrame(frame);
  }, [loaded.name, path]);
  if (loaded.name !== screen.name) return html`<${Loading} />`;
  if (loaded.error) return html`<${Failure} error=${loaded.error} retry=${() => location.reload()} />`;
  return html`<${loaded.View} key=${path} parts=${parts.slice(1)} query=${query} />`;
};

const Navigation = ({ chosen }) => {
  const [isOpen, setOpen] = useState(false);
  const who = caller.value;
  useEffect(() => setOpen(false), [place.value]);
  return html`<header class="frame-header">
    <div class="brand-row">
      <a class="brand" href=${href("home")}><img src="icon.svg" alt="" width="28" height="28" /> Spinneret</a>
      <button type="button" class="menu" aria-expanded=${isOpen} aria-controls="menu" onClick=${() => setOpen(!isOpen)}>Menu</button>
    </div>
    <div id="menu" class=${isOpen ? "open" : ""}>
      <nav aria-label="Main">
        <ul onClick=${() => setOpen(false)}>
          ${SCREENS.filter((each) => each.title && each.isOffered()).map((each) => html`<li><a href=${href(each.name)} aria-current=${each.name === chosen ? "page" : undefined}>${each.title}</a></li>`)}
        </ul>
      </nav>
      <div class="who">
        <p>${who.tenant}<br /><span class="small">${who.kind === "user" ? `signed in as ${who.role}` : "signed in with a key"}</span></p>
        <button type="button" onClick=${signOut}>Sign out</button>
      </div>
    </div>
  </header>`;
};

const Console = () => {
  const { parts, query } = place.value;
  if (!isReady.value) return html`<${Loading} what="Starting" />`;
  const named = parts[0] ?? "home";
  const name = caller.value && named === "sign-in" ? "home" : named;
  const screen = SCREENS.find((each) => each.name === (caller.value && name !== "invitation" ? name : "sign-in"));
  const frame = caller.value && screen?.name !== "sign-in";
  return html`
    <a class="skip" href="#content" onClick=${(event) => {
      event.preventDefault();
      document.querySelector("main h1")?.focus();
    }}>Skip to the content</a>
    ${frame && html`<${Navigation} chosen=${name} />`}
    <main id="content" class=${frame ? "" : "alone"}>
      ${screen ? html`<${Screen} screen=${screen} parts=${parts} query=${query} />` : html`<${NotFound} />`}
    </main>
    <${Toasts} />
    <${Question} />
  `;
};

const root = document.getElementById("console");
root.replaceChildren();
render(html`<${Console} />`, root);
resume();
