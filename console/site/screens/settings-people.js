// Keys, people with their roles, what happened to accounts, and one's own password.
import { html } from "html";
import { useState } from "preact/hooks";
import { api } from "../app/api.js";
import { Dangerous, Dialog, report } from "../app/dialog.js";
import { Check, Choice, Folded, Form, Number, Password, Text, given, useForm } from "../app/form.js";
import { Time, number, words } from "../app/format.js";
import { List, useList } from "../app/list.js";
import { Card, Copyable, Empty, Facts, Note, Status } from "../app/parts.js";
import { caller, end } from "../app/session.js";

const ROLES = [["admin", "administrator: everything"], ["seller", "seller: products and marketplaces, reads the rest"], ["viewer", "viewer: reads"]];
const SCOPES = [["read", "read"], ["write", "read and change"], ["admin", "everything, also keys and people"]];

const KeyForm = ({ onDone }) => {
  const form = useForm({ name: "", scope: "read", expires: "", rate_limit_rpm: null, permissions: new Set() });
  const mine = caller.value.permissions;
  const toggle = (name) => form.set("permissions", new Set(form.values.permissions.has(name) ? [...form.values.permissions].filter((each) => each !== name) : [...form.values.permissions, name]));
  const send = async ({ scope, expires, permissions, ...values }) => {
    const body = given({ ...values, scopes: [scope], permissions: [...permissions], expires_at: expires && new Date(`${expires}T23:59:59`).toISOString() });
    onDone(await api.post("api/v1/api-keys", body));
  };
  return html`<${Form} form=${form} send=${send} submit="Make the key">
    <${Text} title="Name" ...${form.field("name")} required maxlength="100" hint="What will use it, such as “nightly import”" />
    <${Choice} title="It may" ...${form.field("scope")} options=${SCOPES} />
    <${Text} title="Ends on" type="date" ...${form.field("expires")} hint="Empty: it doesn't end by itself" />
    <${Number} title="Requests per minute" ...${form.field("rate_limit_rpm")} min="1" hint="Empty: as usual on this installation" />
    <${Folded} title="Limit it to some actions">
      <div class="fields">${mine.map((name) => html`<${Check} key=${name} title=${words(name)} value=${form.values.permissions.has(name)} set=${() => toggle(name)} />`)}</div>
    </${Folded}>
  </${Form}>`;
};

const keyState = (key) => (key.revoked_at ? "revoked" : key.is_active ? "active" : "expired");

export const Keys = () => {
  const list = useList("api/v1/api-keys");
  const [isOpen, setOpen] = useState(false);
  const [issued, setIssued] = useState(null);
  const done = (key) => {
    setOpen(false);
    setIssued(key);
    list.reload();
  };
  return html`<${Card} title="Keys" actions=${html`<button type="button" class="main" onClick=${() => setOpen(true)}>New key</button>`}>
    <${List} list=${list} title="Keys" keyOf=${(key) => key.key_id} empty=${html`<${Empty} title="No keys yet.">Programs use keys; people sign in.</${Empty}>`} columns=${[
      { title: "Name", kind: "wide", value: (key) => key.name },
      { title: "Begins with", value: (key) => html`<code>${key.prefix}…</code>` },
      { title: "May", value: (key) => `${key.scopes.join(", ")}${key.permissions ? `; only ${key.permissions.map(words).join(", ")}` : ""}` },
      { title: "A minute", kind: "number", value: (key) => number(key.rate_limit_rpm) },
      { title: "Made", value: (key) => html`<${Time} at=${key.created_at} />` },
      { title: "Ends", value: (key) => html`<${Time} at=${key.expires_at} none="never" />` },
      { title: "State", value: (key) => html`<${Status} of=${keyState(key)} />` },
      { title: "", kind: "actions", value: (key) => !key.revoked_at && html`<${Dangerous} title=${`Revoke the key “${key.name}”?`} question="Programs that use it are refused within five seconds. This can't be undone."
        action="Revoke" done="Revoked." act=${async () => { await api.remove(`api/v1/api-keys/${key.key_id}`); list.reload(); }} />` },
    ]} />
    ${isOpen && html`<${Dialog} title="New key" onClose=${() => setOpen(false)}><${KeyForm} onDone=${done} /></${Dialog}>`}
    ${issued && html`<${Dialog} title=${`Key “${issued.name}”`} onClose=${() => setIssued(null)}>
      <${Note} kind="warning">The key is shown only now. Copy it to where it will be used.</${Note}>
      <${Copyable} text=${issued.secret} label="Key" />
    </${Dialog}>`}
  </${Card}>`;
};

const PersonForm = ({ person, onDone }) => {
  const form = useForm(person ? { name: person.name, role: person.role, is_active: person.is_active } : { email: "", name: "", role: "viewer" });
  const send = async (values) => onDone(person ? await api.put(`api/v1/users/${person.user_id}`, values) : await api.post("api/v1/users", values));
  return html`<${Form} form=${form} send=${send} submit=${person ? "Save" : "Invite"}>
    ${!person && html`<${Text} title="E-mail address" type="email" ...${form.field("email")} required />`}
    <${Text} title="Name" ...${form.field("name")} required maxlength="100" />
    <${Choice} title="Role" ...${form.field("role")} options=${ROLES} />
    ${person && html`<${Check} title="May sign in" ...${form.field("is_active")} />`}
  </${Form}>`;
};

const Trail = () => {
  const list = useList("api/v1/auth/events");
  return html`<${Card} title="What happened to accounts">
    <${List} list=${list} title="Events" keyOf=${(event) => `${event.occurred_at} ${event.user_id} ${event.type}`} empty=${html`<${Empty} title="Nothing yet." />`} columns=${[
      { title: "When", value: (event) => html`<${Time} at=${event.occurred_at} />` },
      { title: "What", value: (event) => words(event.type.replace("user.", "")) },
      { title: "Person", kind: "wide", value: (event) => html`<code>${event.user_id}</code>` },
      { title: "Details", kind: "wide", value: (event) => Object.entries(event.data).map(([name, value]) => `${words(name)}: ${value}`).join(", ") },
    ]} />
  </${Card}>`;
};

export const People = () => {
  const list = useList("api/v1/users");
  const [edited, setEdited] = useState(null);
  const [invited, setInvited] = useState(null);
  const done = (saved) => {
    setEdited(null);
    if (saved.invitation) setInvited(saved);
    list.reload();
  };
  return html`
    <${Card} title="People" actions=${html`<button type="button" class="main" onClick=${() => setEdited({})}>Invite somebody</button>`}>
      <${List} list=${list} title="People" keyOf=${(person) => person.user_id} empty=${html`<${Empty} title="Nobody has an account yet.">Invite somebody to sign in by e-mail address and password.</${Empty}>`} columns=${[
        { title: "Name", kind: "wide", value: (person) => person.name },
        { title: "E-mail address", kind: "wide", value: (person) => person.email },
        { title: "Role", value: (person) => person.role },
        { title: "State", value: (person) => html`<${Status} of=${!person.is_active ? "disabled" : person.has_password ? "active" : "invited"} />` },
        { title: "Last sign-in", value: (person) => html`<${Time} at=${person.last_login_at} none="never" />` },
        { title: "", kind: "actions", value: (person) => html`<span class="actions">
          <button type="button" onClick=${() => setEdited({ person })}>Edit</button>
          <${Dangerous} title=${`Delete ${person.name}?`} question="The account and its sessions end at once." action="Delete" done="Deleted."
            act=${async () => { await api.remove(`api/v1/users/${person.user_id}`); list.reload(); }} /></span>` },
      ]} />
    </${Card}>
    <${Trail} />
    ${edited && html`<${Dialog} title=${edited.person ? "Edit the account" : "Invite somebody"} onClose=${() => setEdited(null)}><${PersonForm} person=${edited.person} onDone=${done} /></${Dialog}>`}
    ${invited && html`<${Dialog} title=${`Invitation for ${invited.name}`} onClose=${() => setInvited(null)}>
      <${Note} kind="warning">The invitation is shown only now, and works once within 72 hours. Send it by a channel that you trust.</${Note}>
      <${Copyable} text=${invited.invitation} label="Invitation" />
      <p>They open this console, choose “Invitation” and give the organisation <strong>${caller.value.tenant}</strong>.</p>
    </${Dialog}>`}
  `;
};

export const Account = () => {
  const form = useForm({ current_password: "", new_password: "" });
  const send = async (values) => {
    await api.post("api/v1/auth/password", values);
    report("Your password was changed.");
    end("Your password was changed, and all your sessions ended. Sign in again.");
  };
  const who = caller.value;
  return html`
    <${Card} title="You"><${Facts} of=${[["Organisation", who.tenant], ["Role", who.role], ["You may", who.permissions.map(words).join(", ")]]} /></${Card}>
    <${Card} title="Change your password">
      <${Form} form=${form} send=${send} submit="Change it">
        <${Password} title="Present password" ...${form.field("current_password")} autocomplete="current-password" required />
        <${Password} title="New password" ...${form.field("new_password")} autocomplete="new-password" required minlength="15" hint="At least 15 characters. All your sessions end." />
      </${Form}>
    </${Card}>
  `;
};
