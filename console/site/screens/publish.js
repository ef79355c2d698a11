// Publishing: products, batches, orders, listings and connections.
import { html } from "html";
import { Header, Tabs } from "../app/parts.js";
import { href } from "../app/router.js";
import { may } from "../app/session.js";
import { Batch, Batches, MarketJob } from "./publish-batches.js";
import { Connections, Listings, Orders } from "./publish-markets.js";
import { ProductPage, Products } from "./publish-products.js";

const PLACES = [
  { name: "products", title: "Products", view: Products, isOffered: () => may("view_products") },
  { name: "batches", title: "Batches", view: Batches, isOffered: () => may("view_products") },
  { name: "listings", title: "Listings", view: Listings, isOffered: () => may("view_products") },
  { name: "orders", title: "Orders", view: Orders, isOffered: () => may("view_orders") },
  { name: "connections", title: "Connections", view: Connections, isOffered: () => may("view_connections") },
];
const PAGES = { product: ProductPage, batch: Batch, job: MarketJob };

export default ({ parts: [name, id] }) => {
  if (PAGES[name] && id) return html`<${PAGES[name]} id=${id} />`;
  const offered = PLACES.filter((each) => each.isOffered());
  const chosen = offered.find((each) => each.name === name) ?? offered[0];
  return html`
    <${Header} title=${chosen.title} />
    <${Tabs} chosen=${chosen.name} of=${offered.map((each) => ({ ...each, href: href("publish", each.name) }))} />
    <${chosen.view} />
  `;
};
