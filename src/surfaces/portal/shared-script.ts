/**
 * Browser code of both pages. Session content is added to the page as text nodes only; the content security policy
 * makes the browser refuse anything else (`require-trusted-types-for`).
 */
export const SHARED_SCRIPT = String.raw`
"use strict";

const byId = (id) => document.getElementById(id);

/** Creates an element. Strings become text nodes, never markup. */
function made(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Calls the portal's API. Throws an Error with a message for people; its status is 0 without a response. */
async function call(path, options = {}) {
  const failed = (message, status) => Object.assign(new Error(message), { status });
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw failed("The bridge does not respond", 0);
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const { message = "The bridge answered " + response.status, hint } = answer.error ?? {};
  throw failed(hint ? message + ". " + hint : message, response.status);
}

function post(path, body, headers = {}) {
  headers = { "content-type": "application/json", ...headers };
  return call(path, { method: "POST", headers, body: JSON.stringify(body) });
}

const dayAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
`;
