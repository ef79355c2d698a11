// Products: the list, from which a batch begins, and the form of one product.
import { html } from "html";
import { useState } from "preact/hooks";
import { api } from "../app/api.js";
import { Dangerous, Dialog, report } from "../app/dialog.js";
import { Area, Choice, Folded, Form, Number, Text, given, rows, useForm, utc } from "../app/form.js";
import { Time, money, number, plural, priceOf, unitsOf, words } from "../app/format.js";
import { List, Table, useList } from "../app/list.js";
import { useLoad } from "../app/loading.js";
import { Button, Card, Empty, Facts, Header, Note, Pending, Status, WebLink } from "../app/parts.js";
import { go, href } from "../app/router.js";
import { may } from "../app/session.js";
import { useActions } from "./publish-markets.js";
import { ProductChoices } from "./publish-selling.js";

const ATTRIBUTES = { brand: "brands", color: "colors", condition: "conditions", material: "materials", size: "sizes", category: "categories" };
const BLANK = { title: "", description: "", price: "", currency: "EUR", quantity: 1, images: "", sku: "", attributes: {}, overrides: {} };

const valuesOf = (product) => ({ ...product, price: priceOf(product.price, product.currency), images: product.images.join("\n") });

// Values to choose an attribute from; `free` ones are suggestions.
const useVocabularies = () => {
  const { data } = useLoad(async (options) => {
    const names = Object.values(ATTRIBUTES);
    const answers = await Promise.all(names.map((name) => api.get(`api/product-attributes/${name}`, {}, options)));
    return Object.fromEntries(answers.map(({ vocabulary, items }) => [vocabulary, items.map(({ value, label }) => [value, label])]));
  });
  return data ?? {};
};

const Attributes = ({ form }) => {
  const vocabularies = useVocabularies();
  const { attributes } = form.values;
  const set = (name) => (value) => form.set("attributes", given({ ...attributes, [name]: value }));
  return html`<div class="fields">${Object.entries(ATTRIBUTES).map(([name, vocabulary]) => {
    const known = vocabularies[vocabulary] ?? [];
    const own = attributes[name];
    const options = own && !known.some(([value]) => value === own) ? [...known, [own, own]] : known;
    return html`<${Choice} key=${name} title=${name} value=${own} set=${set(name)} options=${options} none="not given" fault=${form.field(`attributes.${name}`).fault} />`;
  })}</div>`;
};

// Another title, price or choice for one marketplace.
const Overrides = ({ form }) => {
  const { marketplaces } = useActions();
  const { overrides, currency } = form.values;
  const set = (market, name) => (value) => {
    const changed = { ...overrides[market], [name]: name === "price" && value !== "" ? unitsOf(value, currency) : value };
    const kept = given(changed);
    const { [market]: _, ...others } = overrides;
    form.set("overrides", Object.keys(kept).length ? { ...others, [market]: kept } : others);
  };
  const choose = (market) => (name, value) => set(market, "choices")(given({ ...overrides[market]?.choices, [name]: value }));
  return marketplaces.map((market) => html`<fieldset key=${market}><legend>${market}</legend><div class="fields">
    <${Text} title="Title" value=${overrides[market]?.title} set=${set(market, "title")} />
    <${Text} title="Category" value=${overrides[market]?.category_id} set=${set(market, "category_id")} hint="Its id there" />
    <${Text} title="Price" value=${overrides[market]?.price == null ? "" : priceOf(overrides[market].price, currency)} set=${set(market, "price")} inputmode="decimal" />
  </div>
  <${ProductChoices} market=${market} chosen=${overrides[market]?.choices ?? {}} set=${choose(market)} /></fieldset>`);
};

const ProductForm = ({ product, onDone }) => {
  const form = useForm(product ? valuesOf(product) : BLANK);
  const send = async ({ title, description, price, currency, quantity, images, sku, attributes, overrides }) => {
    const body = {
      title, description, currency, quantity, attributes, overrides,
      price: unitsOf(price, currency),
      images: rows(images),
      ...(sku && { sku }),
    };
    const saved = product ? await api.put(`api/products/${product.product_id}`, body) : await api.post("api/products", body);
    report("Saved.");
    onDone(saved);
  };
  return html`<${Form} form=${form} send=${send} submit="Save">
    <${Text} title="Title" ...${form.field("title")} required />
    <${Area} title="Description" ...${form.field("description")} rows="5" required />
    <div class="fields">
      <${Text} title="Price" ...${form.field("price")} required inputmode="decimal" placeholder="89.00" />
      <${Text} title="Currency" ...${form.field("currency")} required maxlength="3" />
      <${Number} title="Pieces in stock" ...${form.field("quantity")} min="0" required />
      <${Text} title="SKU" ...${form.field("sku")} hint="Empty: a new one" />
    </div>
    <${Area} title="Addresses of images" ...${form.field("images")} rows="3" hint="One a line, in their order" />
    <${Attributes} form=${form} />
    <${Folded} title="Other values for one marketplace"><${Overrides} form=${form} /></${Folded}>
  </${Form}>`;
};

// What a batch would do to each product, without doing it.
const Plan = ({ of: plan, products }) => html`<${Note} kind=${plan.refused_count ? "warning" : "good"}>
  <p><strong>${plan.refused_count ? `${plural(plan.refused_count, "product")} of ${number(plan.total_count)} would be refused.` : "Every product can be published."}</strong></p>
  <${Table} title="Plan" rows=${plan.items} keyOf=${(item) => item.product_id} columns=${[
    { title: "Product", kind: "wide", value: (item) => products[item.product_id]?.title ?? item.product_id },
    { title: "Would be", value: (item) => html`<${Status} of=${item.outcome} />` },
    { title: "Your rules", kind: "wide", value: (item) => item.rules.map(({ field, shown, product }) => {
      const text = (value) => (field === "price" ? money(value, products[item.product_id]?.currency) : value);
      return html`<div>${field}: ${text(shown)} instead of ${text(product)}</div>`;
    }) },
    { title: "Why", kind: "wide", value: (item) => html`<ul>${[...item.fields, ...item.violations].map((each) => html`<li>${each.path ?? each.field ?? each.code ?? ""} ${each.message ?? each.text ?? ""} <span class="small">${each.hint ?? each.remedy ?? ""}</span></li>`)}
      ${item.unchecked && html`<li>${item.unchecked}</li>`}</ul>` },
  ]} />
</${Note}>`;

const NewBatch = ({ chosen, products }) => {
  const { actions, marketplaces } = useActions();
  const form = useForm({ marketplace: "", action_code: "publish", publish_at: "" });
  const [plan, setPlan] = useState(null);
  const marketplace = form.values.marketplace || marketplaces[0];
  const codes = actions.filter((each) => each.marketplace === marketplace && each.supported).map((each) => [each.code, each.name]);
  const body = { marketplace, action_code: form.values.action_code, product_ids: chosen, publish_at: utc(form.values.publish_at) };
  const check = async () => {
    form.setError(null);
    try {
      setPlan(await api.post("api/batch-jobs/plan", body));
    } catch (error) {
      form.setError(error);
    }
  };
  const send = async () => {
    const { batch_id: id } = await api.post("api/batch-jobs", body);
    go("publish", "batch", id);
  };
  return html`<${Form} form=${form} send=${send} submit=${`Start with ${plural(chosen.length, "product")}`}>
    <div class="fields">
      <${Choice} title="Marketplace" ...${form.field("marketplace")} value=${marketplace} options=${marketplaces} />
      <${Choice} title="Action" ...${form.field("action_code")} options=${codes} />
      <${Text} title="Begin at" type="datetime-local" ...${form.field("publish_at")} hint="Empty: at once. Within the next 30 days" />
    </div>
    <p><${Button} act=${check}>Check first</${Button}> <span class="small">Says what would happen, and changes nothing.</span></p>
    ${plan && html`<${Plan} of=${plan} products=${products} />`}
  </${Form}>`;
};

export const Products = () => {
  const list = useList("api/products");
  const [chosen, setChosen] = useState([]);
  const [open, setOpen] = useState("");
  const mayPublish = may("publish_product", "write");
  const toggle = (id) => (event) => setChosen((former) => (event.target.checked ? [...former, id] : former.filter((each) => each !== id)));
  const products = Object.fromEntries(list.rows.map((product) => [product.product_id, product]));
  const columns = [
    { title: "Chosen", value: (product) => html`<input type="checkbox" checked=${chosen.includes(product.product_id)} aria-label=${`Choose ${product.title}`} onChange=${toggle(product.product_id)} />` },
    { title: "Product", kind: "wide", value: (product) => html`<a href=${href("publish", "product", product.product_id)}>${product.title}</a>` },
    { title: "Price", kind: "number", value: (product) => money(product.price, product.currency) },
    { title: "In stock", kind: "number", value: (product) => number(product.quantity) },
    { title: "Images", kind: "number", value: (product) => number(product.images.length) },
    { title: "Changed", value: (product) => html`<${Time} at=${product.updated_at} />` },
  ];
  return html`<${Card} title="Products" actions=${html`
      ${mayPublish && html`<button type="button" disabled=${chosen.length === 0} onClick=${() => setOpen("batch")}>Publish the chosen ones</button>`}
      ${may("create_product", "write") && html`<button type="button" class="main" onClick=${() => setOpen("product")}>New product</button>`}`}>
    <${List} list=${list} title="Products" keyOf=${(product) => product.product_id} columns=${mayPublish ? columns : columns.slice(1)}
      empty=${html`<${Empty} title="No products yet.">A product is entered once and published on every connected marketplace.</${Empty}>`} />
    ${open === "product" && html`<${Dialog} title="New product" onClose=${() => setOpen("")}><${ProductForm} onDone=${(saved) => go("publish", "product", saved.product_id)} /></${Dialog}>`}
    ${open === "batch" && html`<${Dialog} title="Publish products" onClose=${() => setOpen("")}><${NewBatch} chosen=${chosen} products=${products} /></${Dialog}>`}
  </${Card}>`;
};

const overrideText = ({ title, price, category_id: category, attributes, choices }, currency) =>
  [title, price && money(price, currency), category && `category: ${category}`, ...Object.entries({ ...attributes, ...choices }).map(([name, value]) => `${words(name)}: ${value}`)]
    .filter(Boolean).join(", ");

export const ProductPage = ({ id }) => {
  const { data: product, error, reload } = useLoad((options) => api.get(`api/products/${id}`, {}, options), [id]);
  const [open, setOpen] = useState("");
  const back = { href: href("publish"), title: "Products" };
  if (!product) return html`<${Header} title="Product" back=${back} /><${Pending} error=${error} retry=${reload} />`;
  const saved = () => {
    setOpen("");
    reload();
  };
  const mayChange = may("create_product", "write");
  return html`
    <${Header} title=${product.title} back=${back}>
      ${may("publish_product", "write") && html`<button type="button" class="main" onClick=${() => setOpen("batch")}>Publish</button>`}
      ${mayChange && html`<button type="button" onClick=${() => setOpen("product")}>Edit</button>
        <${Dangerous} title="Delete this product?" question="Its jobs stay. A product that is listed can't be deleted: end its listings first." action="Delete" done="Deleted."
          act=${async () => { await api.remove(`api/products/${id}`); go("publish"); }} />`}
    </${Header}>
    <${Card}>
      <${Facts} of=${[
        ["Price", money(product.price, product.currency)],
        ["In stock", number(product.quantity)],
        ["SKU", html`<code>${product.sku}</code>`],
        ...Object.entries(product.attributes),
        ...Object.entries(product.overrides).map(([market, values]) => [`On ${market}`, overrideText(values, product.currency)]),
        ["Changed", html`<${Time} at=${product.updated_at} />`],
      ]} />
      <p class="excerpt">${product.description}</p>
    </${Card}>
    <${Card} title="Images">
      ${product.images.length ? html`<ol>${product.images.map((url) => html`<li><${WebLink} url=${url} /></li>`)}</ol>` : html`<${Empty} title="No images.">Marketplaces require at least one.</${Empty}>`}
    </${Card}>
    ${open === "product" && html`<${Dialog} title="Edit the product" onClose=${() => setOpen("")}><${ProductForm} product=${product} onDone=${saved} /></${Dialog}>`}
    ${open === "batch" && html`<${Dialog} title="Publish this product" onClose=${() => setOpen("")}><${NewBatch} chosen=${[id]} products=${{ [id]: product }} /></${Dialog}>`}
  `;
};
