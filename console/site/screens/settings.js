// Settings: webhooks, keys, people, hosts, proxies, configurations, caches, one's own account.
import { html } from "html";
import { useEffect, useState } from "preact/hooks";
import { Failure, Header, Loading, Tabs } from "../app/parts.js";
import { href } from "../app/router.js";
import { caller, may } from "../app/session.js";

const webhooks = () => import("./settings-webhooks.js");
const people = () => import("./settings-people.js");
const network = () => import("./settings-network.js");
const upkeep = () => import("./settings-upkeep.js");

const VIEWS = [
  { name: "webhooks", title: "Webhooks", isOffered: () => may("view_webhooks"), load: webhooks, view: "Webhooks" },
  { name: "keys", title: "Keys", isOffered: () => may("manage_keys", "admin"), load: people, view: "Keys" },
  { name: "people", title: "People", isOffered: () => may("manage_users", "admin"), load: people, view: "People" },
  { name: "hosts", title: "Hosts", isOffered: () => may("view_crawls"), load: network, view: "Hosts" },
  { name: "proxies", title: "Proxies", isOffered: () => may("view_crawls"), load: network, view: "Proxies" },
  { name: "configurations", title: "Configurations", isOffered: () => may("view_crawls"), load: upkeep, view: "Configurations" },
  { name: "caches", title: "Caches", isOffered: () => may("view_documents"), load: upkeep, view: "Caches" },
  { name: "statistics", title: "Statistics", isOffered: () => may("view_jobs"), load: upkeep, view: "Statistics" },
  { name: "account", title: "Your account", isOffered: () => caller.value.kind === "user", load: people, view: "Account" },
];

export default ({ parts: [name, id], query }) => {
  const offered = VIEWS.filter((each) => each.isOffered());
  const chosen = offered.find((each) => each.name === name) ?? offered[0];
  const [{ View, error }, setLoaded] = useState({});
  useEffect(() => {
    chosen.load().then((module) => setLoaded({ View: module[chosen.view] }), (reason) => setLoaded({ error: reason }));
  }, [chosen]);
  return html`
    <${Header} title=${`Settings: ${chosen.title.toLowerCase()}`} />
    <${Tabs} chosen=${chosen.name} of=${offered.map((each) => ({ ...each, href: href("settings", each.name) }))} />
    ${error && html`<${Failure} error=${error} />`}
    ${View ? html`<${View} id=${id} query=${query} />` : html`<${Loading} />`}
  `;
};
