import { Readable, Writable } from "node:stream";
import * as sdk0 from "@agentclientprotocol/sdk";
import * as sdk1 from "acp-sdk-1";
import * as sdk2 from "acp-sdk-2";
import { createHttpStream } from "acp-sdk-2/experimental/http-client";
import type { AcpProcess } from "./acp-world.ts";
import { lastOf, within } from "./within.ts";

/** What a test does with any of the official clients. */
export interface SdkClient {
  newSession(cwd: string): Promise<string>;
  loadSession(sessionId: string, cwd: string): Promise<void>;
  resumeSession(sessionId: string, cwd: string): Promise<void>;
  /** Resolves with the reason that the turn stopped for. */
  prompt(sessionId: string, text: string): Promise<string>;
  cancel(sessionId: string): Promise<void>;
  setMode(sessionId: string, modeId: string): Promise<void>;
  /** Resolves with the values of all options. */
  setOption(sessionId: string, configId: string, value: string): Promise<readonly unknown[]>;
  /** Texts and states of calls, in order. */
  readonly told: readonly string[];
  /** Resolves when one of them begins with this. */
  telling(beginning: string): Promise<void>;
  /** What was asked, by its title. */
  readonly asked: readonly string[];
}

type Connect = (agent: AcpProcess) => Promise<SdkClient>;

/** The official client in its versions, each of which approves whatever it is asked. */
export const SDK_CLIENTS: readonly (readonly [version: string, connect: Connect])[] = [
  ["0.20", (agent) => classClient(sdk0, agent)],
  ["1.9", (agent) => classClient(sdk1, agent)],
  ["2.4", (agent) => appClient(sdk2.ndJsonStream(...webStreams(agent)))],
];

/** What all versions make of an update. */
interface Update {
  readonly sessionUpdate: string;
  readonly content?: unknown;
  readonly status?: string | null;
  readonly currentModeId?: string;
}

interface Question {
  readonly toolCall: { readonly title?: string | null };
  readonly options: readonly { readonly optionId: string; readonly kind: string }[];
}

function hears() {
  const told: string[] = [];
  const asked: string[] = [];
  let waiting: (() => void)[] = [];
  return {
    told,
    asked,
    update: ({ sessionUpdate, content, status, currentModeId }: Update): void => {
      const text = isText(content) ? content.text : (status ?? currentModeId ?? "");
      told.push(`${sessionUpdate}: ${text}`);
      for (const wake of waiting) wake();
      waiting = [];
    },
    permission: ({ toolCall, options }: Question) => {
      asked.push(toolCall.title ?? "");
      const optionId = options.find(({ kind }) => kind === "allow_once")?.optionId ?? "";
      return { outcome: { outcome: "selected" as const, optionId } };
    },
    async telling(beginning: string): Promise<void> {
      while (!told.some((one) => one.startsWith(beginning))) {
        const next = new Promise<void>((resolve) => {
          waiting.push(resolve);
        });
        await within(next, () => `no update "${beginning}"; these came:\n  ${lastOf(told)}`);
      }
    },
  };
}

function isText(content: unknown): content is { readonly text: string } {
  return typeof content === "object" && content !== null && "text" in content;
}

const INITIALIZE = {
  protocolVersion: 1,
  clientCapabilities: {},
  clientInfo: { name: "sdk", version: "1" },
};

function webStreams({ input, output }: AcpProcess) {
  return [Writable.toWeb(input), Readable.toWeb(output) as ReadableStream<Uint8Array>] as const;
}

/** Up to 1.x: a class. */
async function classClient(sdk: typeof sdk0 | typeof sdk1, agent: AcpProcess): Promise<SdkClient> {
  const { update, permission, ...heard } = hears();
  const client = {
    sessionUpdate: async (told: { update: Update }) => update(told.update),
    requestPermission: async (question: Question) => permission(question),
  };
  const connection = new sdk.ClientSideConnection(
    () => client,
    sdk.ndJsonStream(...webStreams(agent)),
  );
  await connection.initialize(INITIALIZE);
  return {
    ...heard,
    newSession: async (cwd) => (await connection.newSession({ cwd, mcpServers: [] })).sessionId,
    async loadSession(sessionId, cwd) {
      await connection.loadSession({ sessionId, cwd, mcpServers: [] });
    },
    async resumeSession(sessionId, cwd) {
      await connection.resumeSession({ sessionId, cwd, mcpServers: [] });
    },
    async prompt(sessionId, said) {
      const prompt = [{ type: "text" as const, text: said }];
      return (await connection.prompt({ sessionId, prompt })).stopReason;
    },
    cancel: (sessionId) => connection.cancel({ sessionId }),
    async setMode(sessionId, modeId) {
      await connection.setSessionMode({ sessionId, modeId });
    },
    async setOption(sessionId, configId, value) {
      const wanted = { sessionId, configId, value };
      return valuesIn(await connection.setSessionConfigOption(wanted));
    },
  };
}

/** The same over HTTP. */
export function httpClient(
  url: string,
  headers: { readonly [name: string]: string },
): Promise<SdkClient> {
  return appClient(createHttpStream(url, { headers }));
}

/** From 2.x: handlers by method. */
async function appClient(stream: sdk2.Stream): Promise<SdkClient> {
  const { update, permission, ...heard } = hears();
  const { agent: to } = sdk2
    .client()
    .onNotification("session/update", ({ params }) => update(params.update))
    .onRequest("session/request_permission", ({ params }) => permission(params))
    .connect(stream);
  await to.request("initialize", INITIALIZE);
  return {
    ...heard,
    newSession: async (cwd) => (await to.request("session/new", { cwd, mcpServers: [] })).sessionId,
    async loadSession(sessionId, cwd) {
      await to.request("session/load", { sessionId, cwd, mcpServers: [] });
    },
    async resumeSession(sessionId, cwd) {
      await to.request("session/resume", { sessionId, cwd, mcpServers: [] });
    },
    async prompt(sessionId, said) {
      const wanted = { sessionId, prompt: [{ type: "text", text: said }] } as const;
      return (await to.request<sdk2.PromptResponse>("session/prompt", wanted)).stopReason;
    },
    cancel: (sessionId) => to.notify("session/cancel", { sessionId }),
    async setMode(sessionId, modeId) {
      await to.request("session/set_mode", { sessionId, modeId });
    },
    async setOption(sessionId, configId, value) {
      return valuesIn(
        await to.request("session/set_config_option", { sessionId, configId, value }),
      );
    },
  };
}

function valuesIn({
  configOptions,
}: {
  readonly configOptions: readonly { readonly currentValue: unknown }[];
}): readonly unknown[] {
  return configOptions.map(({ currentValue }) => currentValue);
}
