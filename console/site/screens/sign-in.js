// Sign-in by e-mail address and password, by a key, or for the first time by an invitation.
import { html } from "html";
import { useEffect, useState } from "preact/hooks";
import { Form, Password, Text, useForm } from "../app/form.js";
import { Header, Note } from "../app/parts.js";
import { href } from "../app/router.js";
import { accept, farewell, signIn, useKey } from "../app/session.js";

const LEAST_LETTERS = 15;

const PROBLEMS = {
  401: "That didn't work. Check organisation, address and password. After several failures, wait half a minute.",
  429: "Too many attempts. Wait a minute, then try again.",
  403: "This organisation or page may not sign in here.",
};

const orThrow = (problem) => {
  if (!problem) return;
  throw new Error(PROBLEMS[problem.status] ?? problem.error ?? "Signing in failed.");
};

const ByPassword = ({ tenant, email }) => {
  const form = useForm({ tenant: tenant ?? "", email: email ?? "", password: "" });
  const send = async (values) => orThrow(await signIn(values.tenant.trim(), values.email.trim(), values.password));
  return html`<${Form} form=${form} send=${send} submit="Sign in">
    <${Text} title="Organisation" ...${form.field("tenant")} autocomplete="organization" required hint="Its short name, such as acme" />
    <${Text} title="E-mail address" type="email" ...${form.field("email")} autocomplete="username" required />
    <${Password} ...${form.field("password")} autocomplete="current-password" required />
  </${Form}>`;
};

const ByKey = () => {
  const form = useForm({ key: "" });
  const send = async ({ key }) => {
    const problem = await useKey(key.trim());
    if (problem) throw new Error(problem.status === 401 ? "This key isn't valid. It may have been revoked." : problem.error);
  };
  return html`<${Form} form=${form} send=${send} submit="Use this key">
    <${Text} title="API key" type="password" ...${form.field("key")} autocomplete="off" spellcheck="false" required
      hint="The key stays in this page's memory: it is forgotten when you reload or close the page." />
  </${Form}>`;
};

const ByInvitation = ({ query }) => {
  const form = useForm({ invitation: query.invitation ?? "", tenant: query.tenant ?? "", password: "" });
  // The address bar and the history shall not show the invitation.
  useEffect(() => history.replaceState(null, "", href("invitation")), []);
  const send = async ({ invitation, tenant, password }) => {
    const person = await accept(invitation.trim(), password);
    orThrow(await signIn(tenant.trim(), person.email, password));
    location.hash = href("home");
  };
  return html`<${Form} form=${form} send=${send} submit="Choose the password and sign in">
    <${Text} title="Invitation" ...${form.field("invitation")} autocomplete="off" spellcheck="false" required hint="It begins with spi_ and works once, within 72 hours." />
    <${Text} title="Organisation" ...${form.field("tenant")} autocomplete="organization" required />
    <${Password} title="New password" ...${form.field("password")} autocomplete="new-password" required minlength=${LEAST_LETTERS}
      hint=${`At least ${LEAST_LETTERS} characters. Several words with spaces are fine.`} />
  </${Form}>`;
};

const WAYS = [["password", "Password"], ["key", "API key"], ["invitation", "Invitation"]];

const wayOf = (hash) =>
  hash.startsWith("#/invitation") ? "invitation" : hash.startsWith("#/sign-in/key") ? "key" : "password";

// The way is chosen by buttons, not by places, so that the page's place waits for its reader.
export default ({ query }) => {
  const [way, setWay] = useState(wayOf(location.hash));
  return html`<div class="sign-in">
    <p class="brand"><img src="icon.svg" alt="" width="40" height="40" /> Spinneret</p>
    <${Header} title="Sign in" />
    ${farewell.value && html`<${Note} kind="warning"><p role="status">${farewell.value}</p></${Note}>`}
    <div class="tabs" role="group" aria-label="Ways to sign in">
      ${WAYS.map(([name, title]) => html`<button type="button" aria-pressed=${name === way} onClick=${() => setWay(name)}>${title}</button>`)}
    </div>
    ${way === "password" && html`<${ByPassword} key="password" />`}
    ${way === "key" && html`<${ByKey} key="key" />`}
    ${way === "invitation" && html`<${ByInvitation} key="invitation" query=${query} />`}
  </div>`;
};
