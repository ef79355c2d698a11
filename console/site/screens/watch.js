// Watched links, the worst first, and the places of one link, maintenance, import and the status page.
import { html } from "html";
import { useState } from "preact/hooks";
import { Dialog } from "../app/dialog.js";
import { Time, duration } from "../app/format.js";
import { Filters, List, useList } from "../app/list.js";
import { Empty, Header, Status, Tabs } from "../app/parts.js";
import { go, href, place } from "../app/router.js";
import { may } from "../app/session.js";
import { TargetForm, kindTitle, targetTitle } from "./watch-form.js";
import { Import, Windows } from "./watch-more.js";
import { StatusPages } from "./watch-pages.js";
import { Target } from "./watch-target.js";

const PLACES = [
  { name: "links", title: "Links", href: href("watch") },
  { name: "windows", title: "Maintenance", href: href("watch", "windows") },
  { name: "import", title: "Import", href: href("watch", "import") },
  { name: "status-page", title: "Status pages", href: href("watch", "status-page") },
];
const STATES = ["down", "degraded", "pending", "up"]; // the worst first
const rank = (target) => STATES.indexOf(target.status);

const COLUMNS = [
  { title: "Link", kind: "wide", value: (target) => html`<a class="url" href=${href("watch", "link", target.id)}>${targetTitle(target)}</a>` },
  { title: "Kind", value: kindTitle },
  { title: "State", value: (target) => html`<${Status} of=${target.status} />` },
  { title: "Since", value: (target) => html`<${Time} at=${target.status_since} />` },
  { title: "Answer", kind: "number", value: (target) => target.last_status_code ?? "–" },
  { title: "Took", kind: "number", value: (target) => duration(target.last_latency_ms) },
  { title: "Checked", value: (target) => html`<${Time} at=${target.last_checked_at} none="not yet" />` },
  { title: "Error", kind: "wide", value: (target) => target.last_error ?? "" },
];

const Links = () => {
  const { host, status } = place.value.query;
  const list = useList("v1/targets", { host, status });
  const [isOpen, setOpen] = useState(false);
  const rows = [...list.rows].sort((one, other) => rank(one) - rank(other));
  return html`
    <${Header} title="Watched links">
      <button type="button" onClick=${list.reload}>Refresh</button>
      ${may("edit_targets", "write") && html`<button type="button" class="main" onClick=${() => setOpen(true)}>Watch a link</button>`}
    </${Header}>
    <${Tabs} of=${PLACES} chosen="links" />
    <${Filters} of=${[{ name: "host", title: "Host", placeholder: "example.com" }, { name: "status", title: "State", options: STATES }]} />
    <${List} list=${{ ...list, rows }} title="Watched links" keyOf=${(target) => target.id} columns=${COLUMNS} filters=${["host", "status"]}
      empty=${html`<${Empty} title="No links are watched yet.">A web address, a port or a DNS record is checked again and again; a job calls. You see when one is down, slow or late.</${Empty}>`} />
    ${isOpen && html`<${Dialog} title="Watch a link" onClose=${() => setOpen(false)}>
      <${TargetForm} onDone=${(target) => go("watch", "link", target.id)} />
    </${Dialog}>`}
  `;
};

const VIEWS = { windows: [Windows, "Maintenance"], import: [Import, "Import links"], "status-page": [StatusPages, "Status pages"] };

export default ({ parts: [name, id] }) => {
  if (name === "link") return html`<${Target} id=${id} />`;
  if (!VIEWS[name]) return html`<${Links} />`;
  const [View, title] = VIEWS[name];
  return html`<${Header} title=${title} /><${Tabs} of=${PLACES} chosen=${name} /><${View} />`;
};
