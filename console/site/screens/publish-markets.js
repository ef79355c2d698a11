// Marketplaces: connections, listings, orders.
import { html } from "html";
import { useState } from "preact/hooks";
import { api } from "../app/api.js";
import { Dangerous } from "../app/dialog.js";
import { Time, number, words } from "../app/format.js";
import { List, useList } from "../app/list.js";
import { useLoad } from "../app/loading.js";
import { Button, Card, Empty, Facts, Failure, Note, Pending, Status, WebLink } from "../app/parts.js";
import { href } from "../app/router.js";
import { may } from "../app/session.js";
import { Import } from "./publish-import.js";
import { Selling } from "./publish-selling.js";

// What each marketplace can do: { actions, marketplaces, error }.
export const useActions = () => {
  const { data, error } = useLoad((options) => api.get("api/marketplace/action-types", {}, options));
  const actions = data?.items ?? [];
  return { actions, error, marketplaces: [...new Set(actions.map((each) => each.marketplace))] };
};

const connectionOf = async (market, options) => {
  try {
    return await api.get(`api/marketplace/${market}/connection`, {}, options);
  } catch (error) {
    if (error.status === 404) return { status: "none" };
    throw error;
  }
};

const Connection = ({ market, canImport }) => {
  const { data: connection, error, reload } = useLoad((options) => connectionOf(market, options), [market]);
  const [leave, setLeave] = useState("");
  const [fault, setFault] = useState(null);
  const mayConnect = may("manage_connections", "admin");
  const connect = async () => {
    setFault(null);
    try {
      setLeave((await api.post(`api/marketplace/${market}/connect`)).authorization_url);
    } catch (reason) {
      setFault(reason);
    }
  };
  if (!connection) return html`<${Card} title=${market}><${Pending} error=${error} retry=${reload} /></${Card}>`;
  const isConnected = connection.status !== "none";
  return html`<${Card} title=${market} actions=${html`
      ${mayConnect && html`<${Button} kind=${connection.status === "active" ? "" : "main"} act=${connect}>${isConnected ? "Connect again" : "Connect"}</${Button}>`}
      ${isConnected && canImport && may("create_product", "write") && html`<${Import} market=${market} />`}
      ${isConnected && mayConnect && html`<${Dangerous} title=${`Disconnect ${market}?`} question="Its tokens are deleted. Listings stay, but are not updated." action="Disconnect" done="Disconnected."
        act=${async () => { await api.remove(`api/marketplace/${market}/connection`); reload(); }} />`}`}>
    <${Failure} error=${fault} />
    ${leave && html`<${Note}><p><${WebLink} url=${leave}>Go to ${market} to agree</${WebLink}>, then <button type="button" class="plain" onClick=${reload}>look again</button>.</p></${Note}>`}
    ${isConnected
      ? html`<${Facts} of=${[
          ["State", html`<${Status} of=${connection.status} as=${connection.status === "active" ? "good" : "bad"} />`],
          ["Account", connection.account],
          ["Connected", html`<${Time} at=${connection.connected_at} />`],
          ["To be renewed by", connection.refresh_expires_at && html`<${Time} at=${connection.refresh_expires_at} />`],
        ]} />
        ${connection.status === "needs_reauth" && html`<${Note} kind="warning"><p>${market} no longer accepts the connection. Connect again.</p></${Note}>`}`
      : html`<p>Not connected.</p>`}
    <${Selling} market=${market} />
  </${Card}>`;
};

export const Connections = () => {
  const { actions, marketplaces, error } = useActions();
  return html`<${Failure} error=${error} /><div class="grid halves">${marketplaces.map((market) => html`<${Connection} key=${market} market=${market}
    canImport=${actions.some((each) => each.marketplace === market && each.code === "import" && each.supported)} />`)}</div>`;
};

const DRIFT = ({ drift }) => (drift.length ? html`<ul>${drift.map((each) => html`<li>${words(each.field)}: ${each.theirs} there, ${each.ours} here</li>`)}</ul>` : "–");

export const Listings = () => {
  const list = useList("api/marketplace/listings");
  return html`<${Card} title="Listings" actions=${html`<button type="button" onClick=${list.reload}>Refresh</button>`}>
    <${List} list=${list} title="Listings" keyOf=${(row) => `${row.product_id} ${row.marketplace}`}
      empty=${html`<${Empty} title="Nothing is listed yet.">Choose products and publish them.</${Empty}>`} columns=${[
        { title: "Marketplace", value: (row) => row.marketplace },
        { title: "Product", kind: "wide", value: (row) => html`<a href=${href("publish", "product", row.product_id)}>${row.sku}</a>` },
        { title: "State", value: (row) => html`<${Status} of=${row.state} />` },
        { title: "Listing", kind: "wide", value: (row) => (row.url ? html`<${WebLink} url=${row.url} />` : row.external_id ?? "–") },
        { title: "Differs", kind: "wide", value: DRIFT },
        { title: "Compared", value: (row) => html`<${Time} at=${row.last_sync_at} none="never" />` },
      ]} />
  </${Card}>`;
};

const OUTCOMES = {
  conflict: "was sold elsewhere at the same time",
  unknown_product: "no product has this SKU",
};

export const Orders = () => {
  const list = useList("api/marketplace/orders");
  return html`<${Card} title="Orders" actions=${html`<button type="button" onClick=${list.reload}>Refresh</button>`}>
    <${List} list=${list} title="Orders" keyOf=${(row) => `${row.marketplace} ${row.order_id} ${row.line_id}`}
      empty=${html`<${Empty} title="No orders yet.">Marketplaces are asked every five minutes.</${Empty}>`} columns=${[
        { title: "Sold", value: (row) => html`<${Time} at=${row.sold_at} />` },
        { title: "Marketplace", value: (row) => row.marketplace },
        { title: "Product", kind: "wide", value: (row) => (row.product_id ? html`<a href=${href("publish", "product", row.product_id)}>${row.sku}</a>` : row.sku) },
        { title: "Pieces", kind: "number", value: (row) => number(row.quantity) },
        { title: "Payment", value: (row) => html`<${Status} of=${row.state} as=${row.state === "paid" ? "good" : undefined} />` },
        { title: "Stock", value: (row) => html`<span><${Status} of=${row.outcome} as=${row.outcome === "conflict" ? "bad" : undefined} /> <span class="small">${OUTCOMES[row.outcome] ?? ""}</span></span>` },
        { title: "Elsewhere", kind: "wide", value: (row) => row.adjustments.map((each) => html`<div>${each.marketplace}: <a href=${href("publish", "job", each.job_id)}>${words(each.state)}</a></div>`) },
      ]} />
  </${Card}>`;
};
