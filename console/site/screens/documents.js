// Stored documents, and one of them with its text and chunks.
import { html } from "html";
import { useEffect, useState } from "preact/hooks";
import { api } from "../app/api.js";
import { Dangerous, Dialog, attempt } from "../app/dialog.js";
import { Area, Choice, Form, Text, given, lines, useForm } from "../app/form.js";
import { Time, number, plural, words } from "../app/format.js";
import { Filters, List, useList } from "../app/list.js";
import { useLoad } from "../app/loading.js";
import { Button, Card, Empty, Facts, Header, Note, Pending, Tabs, WebLink } from "../app/parts.js";
import { go, href } from "../app/router.js";
import { may } from "../app/session.js";
import { Chunks } from "./document-text.js";

const PLACES = [
  { name: "documents", title: "Documents", href: href("documents") },
  { name: "collections", title: "Collections", href: href("documents", "collections") },
  { name: "tags", title: "Tags", href: href("documents", "tags") },
];

const useCollections = () => {
  const { data } = useLoad((options) => api.get("api/v1/collections", { limit: 100 }, options));
  return (data?.items ?? []).map((each) => [each.collection_id, each.name]);
};

const Upload = ({ onDone }) => {
  const collections = useCollections();
  const form = useForm({ url: "", title: "", content: "", collection_id: "", tags: "" });
  const send = async (values) => {
    const answer = await api.post("api/v1/documents", given({ ...values, tags: lines(values.tags) }));
    onDone(answer.job_id);
  };
  return html`<${Form} form=${form} send=${send} submit="Store">
    <${Text} title="Address" ...${form.field("url")} type="url" placeholder="https://" hint="Names the document; it isn't fetched" />
    <${Text} title="Title" ...${form.field("title")} />
    <${Area} title="Text or Markdown" ...${form.field("content")} required rows="8" />
    <${Choice} title="Collection" ...${form.field("collection_id")} options=${collections} none="None" />
    <${Text} title="Tags" ...${form.field("tags")} hint="Comma-separated" />
  </${Form}>`;
};

const DocumentList = ({ query }) => {
  const collections = useCollections();
  const { collection_id: collection, domain, source, language, deleted } = query;
  const list = useList("api/v1/documents", { collection_id: collection, domain, source, language, deleted });
  const [isOpen, setOpen] = useState(false);
  const filters = [
    { name: "collection_id", title: "Collection", options: collections },
    { name: "domain", title: "Host", placeholder: "example.com" },
    { name: "source", title: "Came by", options: ["crawl", "upload", "s3"] },
    { name: "language", title: "Language code", placeholder: "en" },
    { name: "deleted", title: "Show", options: [["true", "deleted documents"]] },
  ];
  return html`
    <${Header} title="Documents">${may("edit_documents", "write") && html`<button type="button" class="main" onClick=${() => setOpen(true)}>Add a document</button>`}</${Header}>
    <${Tabs} of=${PLACES} chosen="documents" />
    <${Filters} of=${filters} />
    <${List} list=${list} title="Documents" keyOf=${(each) => each.document_id} filters=${filters.map((each) => each.name)}
      empty=${html`<${Empty} title="No documents yet."><a href=${href("crawl")}>Crawl a page</a> and its text appears here.</${Empty}>`}
      columns=${[
        { title: "Title", kind: "wide", value: (each) => html`<a href=${href("documents", each.document_id)}>${each.title || each.url}</a>` },
        { title: "Address", kind: "wide", value: (each) => html`<${WebLink} url=${each.url} />` },
        { title: "Chunks", kind: "number", value: (each) => number(each.chunk_count) },
        { title: "Language", value: (each) => each.language },
        { title: "Changed", value: (each) => html`<${Time} at=${each.changed_at} />` },
      ]} />
    ${isOpen && html`<${Dialog} title="Add a document" onClose=${() => setOpen(false)}><${Upload} onDone=${(id) => go("jobs", id)} /></${Dialog}>`}
  `;
};

const TagForm = ({ document, onDone }) => {
  const form = useForm({ tags: "" });
  const send = async ({ tags }) => {
    await api.post(`api/v1/documents/${document.document_id}/tags`, { tags: lines(tags) });
    onDone();
  };
  return html`<${Form} form=${form} send=${send} submit="Add"><${Text} title="Tags to add" ...${form.field("tags")} required hint="Comma-separated" /></${Form}>`;
};

const DocumentPage = ({ id, query }) => {
  const [isOpen, setOpen] = useState(false);
  const { data: document, error, reload } = useLoad((options) => api.get(`api/v1/documents/${id}`, { include_deleted: true }, options), [id]);
  useEffect(() => {
    if (document && query.chunk) globalThis.document.getElementById(query.chunk)?.scrollIntoView({ block: "nearest" });
  }, [document]);
  const back = { href: href("documents"), title: "Documents" };
  if (!document) return html`<${Header} title="Document" back=${back} /><${Pending} error=${error} retry=${reload} />`;
  const mayEdit = may("edit_documents", "write");
  const change = (work, done) => async () => (await attempt(work, done)) && reload();
  return html`
    <${Header} title=${document.title || document.url} back=${back}>
      ${mayEdit && !document.deleted_at && html`
        <${Button} act=${change(() => api.post(`api/v1/documents/${id}/reindex`), "It will be indexed again.")}>Index again</${Button}>
        <button type="button" onClick=${() => setOpen(true)}>Add tags</button>
        <${Dangerous} title="Delete this document?" question="Searches stop finding it. It can be restored for 30 days." action="Delete"
          act=${async () => { await api.remove(`api/v1/documents/${id}`); reload(); }} done="Deleted." />`}
      ${mayEdit && document.deleted_at && html`<${Button} kind="main" act=${change(() => api.post(`api/v1/documents/${id}/restore`), "Restored.")}>Restore</${Button}>`}
    </${Header}>
    ${document.deleted_at && html`<${Note} kind="warning">This document was deleted <${Time} at=${document.deleted_at} />. Searches don't find it.</${Note}>`}
    <${Card}>
      <${Facts} of=${[
        ["Address", html`<${WebLink} url=${document.url} />`],
        ["Came by", words(document.source)],
        ["Language", document.language],
        ["Author", document.metadata?.author],
        ["Size", `${plural(document.chunk_count, "chunk")}, ${plural(document.token_count, "token")}`],
        ["Crawled", html`<${Time} at=${document.crawled_at} />`],
        ["Changed", html`<${Time} at=${document.changed_at} />`],
        ["Tags", document.tags.map((tag) => tag.name).join(", ")],
      ]} />
    </${Card}>
    <div class="grid halves">
      <${Card} title="Text as Markdown">${document.content ? html`<pre class="source" tabindex="0">${document.content}</pre>` : html`<${Empty} title="The text is too long to show here.">It is stored as a file of its own.</${Empty}>`}</${Card}>
      <${Card} title="Chunks that searches find"><${Chunks} document=${document} chosen=${query.chunk} /></${Card}>
    </div>
    ${isOpen && html`<${Dialog} title="Add tags" onClose=${() => setOpen(false)}><${TagForm} document=${document} onDone=${() => { setOpen(false); reload(); }} /></${Dialog}>`}
  `;
};

// Collections and tags: named things that documents have.
const NAMED = {
  collections: {
    title: "Collections", one: "collection", path: "api/v1/collections", id: "collection_id", filter: "collection_id",
    empty: "A collection is a named set of documents. Crawls and searches can be limited to one.",
  },
  tags: {
    title: "Tags", one: "tag", path: "api/v1/tags", id: "tag_id", filter: "tag_id",
    empty: "Tags are short names on documents. Searches can be limited to them.",
  },
};

const NamedForm = ({ kind, item, onDone }) => {
  const hasDescription = kind === NAMED.collections;
  const form = useForm({ name: item?.name ?? "", ...(hasDescription && { description: item?.description ?? "" }) });
  const send = async (values) => {
    await (item ? api.put(`${kind.path}/${item[kind.id]}`, given(values)) : api.post(kind.path, given(values)));
    onDone();
  };
  return html`<${Form} form=${form} send=${send} submit="Save">
    <${Text} title="Name" ...${form.field("name")} required maxlength="100" />
    ${hasDescription && html`<${Area} title="Description" ...${form.field("description")} rows="2" />`}
  </${Form}>`;
};

const NamedList = ({ name }) => {
  const kind = NAMED[name];
  const list = useList(kind.path);
  const [edited, setEdited] = useState(null);
  const mayEdit = may("edit_documents", "write");
  const columns = [
    { title: "Name", kind: "wide", value: (item) => html`<a href=${name === "collections" ? href("documents", { collection_id: item.collection_id }) : href("search", { tag: item.tag_id })}>${item.name}</a>` },
    ...(name === "collections"
      ? [{ title: "Description", kind: "wide", value: (item) => item.description ?? "" }, { title: "Documents", kind: "number", value: (item) => number(item.document_count) }]
      : []),
    { title: "Created", value: (item) => html`<${Time} at=${item.created_at} />` },
  ];
  if (mayEdit) {
    columns.push({ title: "", kind: "actions", value: (item) => html`<span class="actions">
      <button type="button" onClick=${() => setEdited({ item })}>Edit</button>
      <${Dangerous} title=${`Delete the ${kind.one} ${item.name}?`} question="Documents stay." action="Delete" done="Deleted."
        act=${async () => { await api.remove(`${kind.path}/${item[kind.id]}`); list.reload(); }} /></span>` });
  }
  return html`
    <${Header} title=${kind.title}>${mayEdit && html`<button type="button" class="main" onClick=${() => setEdited({})}>New ${kind.one}</button>`}</${Header}>
    <${Tabs} of=${PLACES} chosen=${name} />
    <${List} list=${list} title=${kind.title} keyOf=${(item) => item[kind.id]} columns=${columns} empty=${html`<${Empty} title=${`No ${name} yet.`}>${kind.empty}</${Empty}>`} />
    ${edited && html`<${Dialog} title=${edited.item ? `Edit the ${kind.one}` : `New ${kind.one}`} onClose=${() => setEdited(null)}>
      <${NamedForm} kind=${kind} item=${edited.item} onDone=${() => { setEdited(null); list.reload(); }} /></${Dialog}>`}
  `;
};

export default ({ parts: [id], query }) => {
  if (NAMED[id]) return html`<${NamedList} key=${id} name=${id} />`;
  return id ? html`<${DocumentPage} id=${id} query=${query} />` : html`<${DocumentList} query=${query} />`;
};
