import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../../../src/data/json.ts";
import {
  says,
  startModelServer,
  type ModelServer,
  type ModelServerRequest,
  type ScriptedResponse,
} from "../../support/server/model-server.ts";
import { startBridge, type BridgeProcess } from "./bridge-process.ts";

/** A bridge whose agent `coder` runs on a scripted model. The model survives a kill of the bridge. */
export interface ScriptedBridge extends BridgeProcess {
  readonly model: ModelServer;
  /** Opens a session. Returns its id. */
  openSession(title: string): Promise<string>;
  prompt(sessionId: string, text: string): Promise<void>;
  /** The link to a session, with the token. */
  createLink(sessionId: string): string;
}

export interface ScriptedBridgeOptions {
  /** The response to a prompt, by its text. Default: a repetition of the prompt. */
  readonly responses?: { readonly [prompt: string]: ScriptedResponse };
  /** The response to tool results. Default: "It is done." */
  readonly afterTools?: ScriptedResponse;
  /** Overrides of the agent's configuration. */
  readonly agent?: object;
  readonly serve?: object;
  readonly environment?: NodeJS.ProcessEnv;
}

export const NOTES_FILE = "notes.md";

/** The workspace has one file, `notes.md`, with ten lines. Reading it is allowed; any other tool call is asked about. */
export async function startScriptedBridge(
  options: ScriptedBridgeOptions = {},
): Promise<ScriptedBridge> {
  const { responses = {}, afterTools = says("It is done.") } = options;
  const model = await startModelServer("chat", ({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === "tool") return afterTools;
    const text = readText(last);
    return responses[text] ?? says(`You said: ${text}`);
  });
  const coder = {
    provider: { type: "local", model: "openai:scripted" },
    workspace: { root: "project" },
    askUser: true,
    approvals: { allow: ["read_file", "update_plan"] },
    ...options.agent,
  };
  const bridge = await startBridge({
    config: { agents: { coder }, ...(options.serve !== undefined && { serve: options.serve }) },
    environment: {
      OPENAI_BASE_URL: `${model.url}/v1`,
      OPENAI_API_KEY: "none",
      ...options.environment,
    },
    prepare: ({ project }) => writeFileSync(join(project, NOTES_FILE), createNotes()),
  });
  return {
    ...bridge,
    model,
    async openSession(title) {
      const opened = await bridge.request("POST", "/sessions", { title });
      if (isObject(opened) && typeof opened["sessionId"] === "string") return opened["sessionId"];
      throw new Error(`POST /api/sessions returned ${JSON.stringify(opened)}`);
    },
    async prompt(sessionId, text) {
      await bridge.request("POST", `/sessions/${sessionId}/prompt`, { text });
    },
    createLink: (sessionId) => `${bridge.url}/sessions/${sessionId}?token=${bridge.token}`,
  };
}

function createNotes(): string {
  return Array.from({ length: 10 }, (_, line) => `line ${line + 1}\n`).join("");
}

function readText(message: ModelServerRequest["messages"][number] | undefined): string {
  const content = message?.content;
  if (typeof content === "string") return content;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts
    .map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
}
