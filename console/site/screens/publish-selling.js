// How a seller sells on a marketplace: pause, rules of price, stock and title, and what is chosen.
import { html } from "html";
import { useState } from "preact/hooks";
import { api } from "../app/api.js";
import { Dialog, report } from "../app/dialog.js";
import { Check, Choice, Form, Number, Text, useForm } from "../app/form.js";
import { Time, priceOf, unitsOf, words } from "../app/format.js";
import { useLoad } from "../app/loading.js";
import { Button, Facts, Failure, Loading, Note, Pending } from "../app/parts.js";
import { may } from "../app/session.js";

const RULES = ["price_factor", "minimum_price", "price_ending", "quantity_buffer", "title_suffix"];
const SITES = ["EBAY_DE", "EBAY_AT", "EBAY_AU", "EBAY_CA", "EBAY_CH", "EBAY_ES", "EBAY_FR", "EBAY_GB", "EBAY_IE", "EBAY_IT", "EBAY_NL", "EBAY_PL", "EBAY_US"];

// A minimum has no currency of its own: it is meant in each product's.
const ANY = "EUR";
const shownRule = (name, value) => (name === "minimum_price" && value != null ? priceOf(value, ANY) : value);
const sentRule = (name, value) => (value === "" || value == null ? null : name === "minimum_price" ? unitsOf(value, ANY) : value);

// Policies, locations, profiles and sections of the account, read there when this is shown.
const Options = ({ market, chosen, set, none }) => {
  const [site, setSite] = useState(market === "ebay" ? SITES[0] : undefined);
  const { data, error, reload } = useLoad((options) => api.get(`api/marketplace/${market}/choices`, { site }, options), [market, site]);
  return html`<div>
    ${error && (error.code === "UNSUPPORTED" ? html`<p class="small">${error.message}.</p>` : html`<${Failure} error=${error} retry=${reload} />`)}
    ${site && html`<${Choice} title="Policies of" value=${site} set=${setSite} options=${SITES.map((each) => [each, each])} />`}
    ${!data && !error && html`<${Loading} />`}
    <div class="fields">${data?.items.map(({ name, options }) => {
      const own = chosen[name];
      const isKnown = !own || options.some((each) => each.id === own);
      const pairs = options.map((each) => [each.id, each.title]);
      return html`<${Choice} key=${name} title=${words(name)} value=${own} set=${(value) => set(name, value)} none=${none}
        options=${isKnown ? pairs : [...pairs, [own, `${own} (not there)`]]} />`;
    })}</div>
  </div>`;
};

// What is chosen for one product; the account is asked when the seller wants to choose.
export const ProductChoices = ({ market, chosen, set }) => {
  const [isOpen, setOpen] = useState(Object.keys(chosen).length > 0);
  return isOpen
    ? html`<${Options} market=${market} chosen=${chosen} set=${set} none="as for all products" />`
    : html`<p><button type="button" onClick=${() => setOpen(true)}>Choose policies and profiles</button></p>`;
};

const SellingForm = ({ market, preferences, onDone }) => {
  const form = useForm({ ...preferences, minimum_price: shownRule("minimum_price", preferences.minimum_price), is_paused: preferences.paused_at !== null });
  const { choices } = form.values;
  const choose = (name, value) => form.setValues((former) => ({ ...former, choices: { ...former.choices, [name]: value || null } }));
  const send = async (values) => {
    const rules = Object.fromEntries(RULES.map((name) => [name, sentRule(name, values[name])]));
    await api.patch(`api/marketplace/${market}/preferences`, { ...rules, is_paused: values.is_paused, choices });
    report("Saved.");
    onDone();
  };
  return html`<${Form} form=${form} send=${send} submit="Save">
    <${Check} title="Pause: jobs that list or revise wait" ...${form.field("is_paused")} hint="Orders are still read, and sales elsewhere still followed." />
    <div class="fields">
      <${Text} title="Price factor" ...${form.field("price_factor")} inputmode="decimal" placeholder="1.15" />
      <${Text} title="Minimum price" ...${form.field("minimum_price")} inputmode="decimal" placeholder="5.00" hint="In each product's currency; 5.00 is 500 of its smallest unit" />
      <${Number} title="Price ending" ...${form.field("price_ending")} min="0" max="99" placeholder="99" hint="Last two digits" />
      <${Number} title="Pieces not offered" ...${form.field("quantity_buffer")} min="0" />
      <${Text} title="Text after the title" ...${form.field("title_suffix")} maxlength="60" />
    </div>
    <${Options} market=${market} chosen=${choices} set=${choose} none="the first one, or none" />
  </${Form}>`;
};

export const Selling = ({ market }) => {
  const { data, error, reload } = useLoad((options) => api.get(`api/marketplace/${market}/preferences`, {}, options), [market]);
  const [isOpen, setOpen] = useState(false);
  if (!data) return html`<${Pending} error=${error} retry=${reload} />`;
  const done = () => {
    setOpen(false);
    reload();
  };
  const rules = [...RULES.map((name) => [name, shownRule(name, data[name])]), ...Object.entries(data.choices)].filter(([, value]) => value != null);
  return html`
    ${data.paused_at && html`<${Note} kind="warning"><p>Paused since <${Time} at=${data.paused_at} />: jobs that list or revise wait.</p></${Note}>`}
    ${rules.length > 0 && html`<${Facts} of=${rules.map(([name, value]) => [words(name), String(value)])} />`}
    ${may("manage_connections", "write") && html`<p><${Button} act=${() => setOpen(true)}>Pause, rules and choices</${Button}></p>`}
    ${isOpen && html`<${Dialog} title=${`Selling on ${market}`} onClose=${() => setOpen(false)}><${SellingForm} market=${market} preferences=${data} onDone=${done} /></${Dialog}>`}`;
};
