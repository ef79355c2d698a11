// Imports: the question before one, and the listings that it has read.
import { html } from "html";
import { useState } from "preact/hooks";
import { api } from "../app/api.js";
import { Dialog } from "../app/dialog.js";
import { Check, Form, useForm } from "../app/form.js";
import { number, words } from "../app/format.js";
import { Filters, List, useList } from "../app/list.js";
import { Button, Card, Empty, Facts, Status, WebLink } from "../app/parts.js";
import { go, href, place } from "../app/router.js";

const OUTCOMES = ["conflict", "refused", "unmatched", "linked", "created", "known"];

const ImportForm = ({ market }) => {
  const form = useForm({ create: false });
  const send = async (body) => {
    const { job_id: id } = await api.post(`api/marketplace/${market}/import`, body);
    go("publish", "job", id);
  };
  return html`<${Form} form=${form} send=${send} submit="Import">
    <p>Reads what you have listed on ${market}, and links it to products: by SKU, then by title. Nothing changes on ${market}.</p>
    <${Check} title="Make products of listings that match none" ...${form.field("create")} />
  </${Form}>`;
};

export const Import = ({ market }) => {
  const [isOpen, setOpen] = useState(false);
  return html`<${Button} act=${() => setOpen(true)}>Import listings</${Button}>
    ${isOpen && html`<${Dialog} title=${`Import from ${market}`} onClose=${() => setOpen(false)}><${ImportForm} market=${market} /></${Dialog}>`}`;
};

const PRODUCT = (id) => html`<div key=${id}><a href=${href("publish", "product", id)}>Open the product</a></div>`;

// The listings of an import; the job's result counts them.
export const Imported = ({ job }) => {
  const { outcome } = place.value.query;
  const list = useList(`api/marketplace/jobs/${job.job_id}/listings`, { outcome });
  return html`<${Card} title="Listings" actions=${html`<button type="button" onClick=${list.reload}>Refresh</button>`}>
    ${job.result_data && html`<${Facts} of=${Object.entries(job.result_data).map(([name, count]) => [words(name), number(count)])} />`}
    <${Filters} of=${[{ name: "outcome", title: "Outcome", options: OUTCOMES }]} />
    <${List} list=${list} title="Listings" keyOf=${(row) => row.external_id} filters=${["outcome"]}
      empty=${html`<${Empty} title="No listings yet.">They appear as they are read.</${Empty}>`} columns=${[
        { title: "Listing", kind: "wide", value: (row) => html`<div>${row.title}</div>${row.url ? html`<${WebLink} url=${row.url} />` : row.external_id}` },
        { title: "SKU", value: (row) => row.sku ?? "–" },
        { title: "Outcome", value: (row) => html`<${Status} of=${row.outcome} as=${row.outcome === "conflict" || row.outcome === "refused" ? "bad" : undefined} />` },
        { title: "Product", value: (row) => (row.product_id ? [row.product_id] : row.rivals).map(PRODUCT) },
        { title: "Why", kind: "wide", value: (row) => row.reason ?? "" },
      ]} />
  </${Card}>`;
};
