import { defineAgent } from "../../../src/bridge/agent/define-agent.ts";
import {
  createScriptedProvider,
  type ProviderScript,
  type ScriptedProvider,
} from "../../support/session/scripted-provider.ts";
import { serveSessions, type ServedSessions, type Serving } from "./serve-sessions.ts";

export interface Scripted extends ServedSessions {
  readonly provider: ScriptedProvider;
}

/** Serves the surface over a scripted agent, with one script per invocation. */
export async function serveAnswers(
  answers: readonly ProviderScript[],
  serving: Omit<Serving, "agents"> = {},
): Promise<Scripted> {
  const capabilities = {
    instructions: true,
    tools: true,
    allowedTools: true,
    maxOutputTokens: true,
  } as const;
  const provider = createScriptedProvider(answers, { capabilities });
  const agent = defineAgent({ name: "scripted", provider, images: "describe" });
  return { ...(await serveSessions({ agents: [agent], ...serving })), provider };
}

export type Headers = { readonly [name: string]: string };

/** Sends one request and reads the whole response. */
export async function send(
  { baseUrl, apiKey }: Pick<ServedSessions, "baseUrl" | "apiKey">,
  [method, path]: readonly [method: string, path: string],
  { body, headers = {} }: { readonly body?: unknown; readonly headers?: Headers } = {},
) {
  const answer = await fetch(`${baseUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, json: jsonOf(text) };
}

/** The parsed body, untyped so that tests can read any field. Null if the body is not a JSON object. */
function jsonOf(text: string) {
  return JSON.parse(text.startsWith("{") ? text : "null");
}

/** The data of a stream's events, without comments. */
export function dataOf(text: string): string[] {
  return text
    .split("\n\n")
    .filter((event) => event !== "" && !event.startsWith(":"))
    .map((event) => event.replace(/^data: /, ""));
}
