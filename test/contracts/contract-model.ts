import {
  fails,
  hangs,
  refuses,
  says,
  wants,
  type ModelServerRequest,
  type RequestMessage,
  type ScriptedResponse,
} from "../support/server/model-server.ts";
import { RECOUNT, TOOLS } from "./provider-contract.ts";

/** Plays the agent of the provider contract as a stateless model. */
export function contractModel({ messages, tools = [] }: ModelServerRequest): ScriptedResponse {
  const last = messages.at(-1);
  const text = wordsOf(last);
  if (text.endsWith(RECOUNT)) return says(`I know: ${JSON.stringify(messages)}`);
  if (text.endsWith(TOOLS)) return says(`I have: ${JSON.stringify(tools)}`);
  const answers: { readonly [word: string]: ScriptedResponse } = {
    hello: says("Hello there."),
    long: hangs("Once upon a time"),
    fail: fails("So far", "server_error"),
    refuse: refuses(429, {}, "rate_limit_error"),
    call: wants({ id: "call_1", name: "look", input: { at: "it" } }),
    "": says("Thank you."),
  };
  // Earlier unanswered prompts are part of the same message, so only the last paragraph is matched.
  return answers[text.split("\n\n").at(-1) ?? ""] ?? says(`I do not know "${text}"`);
}

/** The text of the last message in either dialect. Empty if the message has only results. */
function wordsOf(message: RequestMessage | undefined): string {
  const content = message?.content;
  if (typeof content === "string") return message?.role === "user" ? content : "";
  if (!Array.isArray(content)) return "";
  return content.flatMap((part) => (part?.type === "text" ? [part.text] : [])).join("\n\n");
}
