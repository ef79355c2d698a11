// Public status pages with their groups, and the incidents and maintenance that are posted on them.
import { html } from "html";
import { useState } from "preact/hooks";
import { address } from "../app/address.js";
import { api } from "../app/api.js";
import { Dangerous, Dialog } from "../app/dialog.js";
import { Area, Choice, Folded, Form, Text, lines, useForm, utc } from "../app/form.js";
import { Time, plural, words } from "../app/format.js";
import { List, Table, useList } from "../app/list.js";
import { useLoad } from "../app/loading.js";
import { Card, Empty, Pending, WebLink } from "../app/parts.js";
import { may } from "../app/session.js";

const STATUSES = {
  incident: ["investigating", "identified", "monitoring", "resolved"],
  maintenance: ["scheduled", "in_progress", "completed"],
};
const MOST_CHOICES = 100;

// Groups as lines such as `Shop: t_1, t_2`.
const textOf = (groups) => groups.map(({ name, target_ids: ids }) => `${name}: ${ids.join(", ")}`).join("\n");
const groupsOf = (text) =>
  text.split("\n").filter((line) => line.trim()).map((line) => {
    const colon = line.lastIndexOf(":");
    return { name: line.slice(0, Math.max(colon, 0)).trim(), target_ids: lines(line.slice(colon + 1)) };
  });

const PageForm = ({ page, onDone }) => {
  const form = useForm({ slug: page.slug ?? "", title: page.title ?? "", groups: textOf(page.groups ?? []) });
  const { data } = useLoad((options) => api.get("v1/targets", { limit: MOST_CHOICES }, options));
  const send = async ({ slug, title, groups: text }) => {
    const body = { title, groups: groupsOf(text) };
    await (page.slug ? api.put(`v1/status-pages/${page.slug}`, body) : api.post("v1/status-pages", { ...body, slug }));
    onDone();
  };
  return html`<${Form} form=${form} send=${send} submit=${page.slug ? "Save" : "Create"}>
    <${Text} title="Title" ...${form.field("title")} required />
    ${!page.slug && html`<${Text} title="Last part of its address" ...${form.field("slug")} required placeholder="acme" />`}
    <${Area} title="Groups" ...${form.field("groups")} rows="3" placeholder="Shop: t_…, t_…" hint="One a line: its name and the ids of links. Empty: all public links" />
    <${Folded} title="Ids of public links">
      <ul>${(data?.items ?? []).filter((target) => target.public).map((target) => html`<li><code>${target.id}</code> ${target.name ?? target.url}</li>`)}</ul>
    </${Folded}>
  </${Form}>`;
};

const Pages = () => {
  const { data, error, reload } = useLoad((options) => api.get("v1/status-pages", {}, options));
  const [shown, setShown] = useState(null);
  if (!data) return html`<${Pending} error=${error} retry=${reload} />`;
  const mayEdit = may("edit_targets", "write");
  const done = () => {
    setShown(null);
    reload();
  };
  const remove = (page) => async () => {
    await api.remove(`v1/status-pages/${page.slug}`);
    reload();
  };
  return html`<${Card} title="Public status pages" actions=${mayEdit && html`<button type="button" class="main" onClick=${() => setShown({})}>New page</button>`}>
    ${data.items.length === 0
      ? html`<${Empty} title="No status page yet.">It shows everybody the state of the links that are marked as public.</${Empty}>`
      : html`<${Table} title="Public status pages" rows=${data.items} keyOf=${(page) => page.slug} columns=${[
          { title: "Page", kind: "wide", value: (page) => html`<${WebLink} url=${address(page.path.slice(1))}>${page.title}</${WebLink}>` },
          { title: "Groups", value: (page) => page.groups.map(({ name }) => name).join(", ") || "all public links" },
          { title: "Feed", value: (page) => html`<${WebLink} url=${address(page.feed_path.slice(1))}>Atom</${WebLink}>` },
          { title: "Changed", value: (page) => html`<${Time} at=${page.updated_at} />` },
          { title: "", kind: "actions", value: (page) => mayEdit && html`<button type="button" onClick=${() => setShown(page)}>Edit</button>
            <${Dangerous} title="Delete this status page?" question="Its address stops working. The links stay watched." action="Delete" act=${remove(page)} done="Deleted." />` },
        ]} />`}
    ${shown && html`<${Dialog} title="Status page" onClose=${() => setShown(null)}><${PageForm} page=${shown} onDone=${done} /></${Dialog}>`}
  </${Card}>`;
};

const NoticeForm = ({ onDone }) => {
  const form = useForm({ kind: "incident", title: "", text: "", starts_at: "", ends_at: "", slugs: "" });
  const isPlanned = form.values.kind === "maintenance";
  const send = async ({ kind, title, text, starts_at: starts, ends_at: ends, slugs }) => {
    const times = isPlanned ? { starts_at: utc(starts), ends_at: utc(ends) } : {};
    await api.post("v1/status-notices", { kind, title, text, slugs: lines(slugs), ...times });
    onDone();
  };
  return html`<${Form} form=${form} send=${send} submit="Post">
    <${Choice} title="Kind" ...${form.field("kind")} options=${Object.keys(STATUSES)} />
    <${Text} title="Title" ...${form.field("title")} required />
    <${Area} title="Text" ...${form.field("text")} required hint="Shown to everybody, without markup" />
    ${isPlanned && html`<div class="fields">
      <${Text} title="Begins" type="datetime-local" ...${form.field("starts_at")} required />
      <${Text} title="Ends" type="datetime-local" ...${form.field("ends_at")} required />
    </div>`}
    <${Text} title="Pages" ...${form.field("slugs")} hint="Last parts of their addresses, comma-separated. Empty: all" />
  </${Form}>`;
};

const UpdateForm = ({ notice, onDone }) => {
  const form = useForm({ status: notice.status, text: "" });
  const send = async (values) => {
    await api.post(`v1/status-notices/${notice.id}/updates`, values);
    onDone();
  };
  return html`<${Form} form=${form} send=${send} submit="Post">
    <${Choice} title="Status" ...${form.field("status")} options=${STATUSES[notice.kind]} />
    <${Area} title="Text" ...${form.field("text")} required />
  </${Form}>`;
};

const Notices = () => {
  const list = useList("v1/status-notices");
  const [shown, setShown] = useState(null);
  const mayEdit = may("edit_targets", "write");
  const done = () => {
    setShown(null);
    list.reload();
  };
  const remove = (notice) => async () => {
    await api.remove(`v1/status-notices/${notice.id}`);
    list.reload();
  };
  return html`<${Card} title="Incidents and maintenance" actions=${mayEdit && html`<button type="button" class="main" onClick=${() => setShown({})}>Post</button>`}>
    <${List} list=${list} title="Incidents and maintenance" keyOf=${(notice) => notice.id}
      empty=${html`<${Empty} title="Nothing is posted.">A notice tells the readers of your status pages what you know and do.</${Empty}>`}
      columns=${[
        { title: "Title", kind: "wide", value: (notice) => notice.title },
        { title: "Kind", value: (notice) => notice.kind },
        { title: "Status", value: (notice) => words(notice.status) },
        { title: "Pages", value: (notice) => notice.slugs.join(", ") || "all" },
        { title: "Updates", value: (notice) => html`<${Folded} title=${plural(notice.updates.length, "update")}>
          <ol>${notice.updates.map((update) => html`<li><${Time} at=${update.at} /> ${words(update.status)}: ${update.text}</li>`)}</ol>
        </${Folded}>` },
        { title: "", kind: "actions", value: (notice) => mayEdit && html`<button type="button" onClick=${() => setShown(notice)}>Update</button>
          <${Dangerous} title="Delete this notice?" question="It disappears from all pages and feeds." action="Delete" act=${remove(notice)} done="Deleted." />` },
      ]} />
    ${shown && html`<${Dialog} title=${shown.id ? shown.title : "Post a notice"} onClose=${() => setShown(null)}>
      ${shown.id ? html`<${UpdateForm} notice=${shown} onDone=${done} />` : html`<${NoticeForm} onDone=${done} />`}
    </${Dialog}>`}
  </${Card}>`;
};

export const StatusPages = () => html`<${Pages} /><${Notices} />`;
