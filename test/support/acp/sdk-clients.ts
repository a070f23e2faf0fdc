import { Readable, Writable } from "node:stream";
import * as sdk0 from "@agentclientprotocol/sdk";
import * as sdk1 from "acp-sdk-1";
import * as sdk2 from "acp-sdk-2";
import { createHttpStream } from "acp-sdk-2/experimental/http-client";
import type { AcpProcess } from "./acp-project.ts";
import { formatTail, withDeadline } from "../with-deadline.ts";

/** The common interface of the official clients. */
export interface SdkClient {
  newSession(cwd: string): Promise<string>;
  loadSession(sessionId: string, cwd: string): Promise<void>;
  resumeSession(sessionId: string, cwd: string): Promise<void>;
  /** Resolves with the stop reason of the turn. */
  prompt(sessionId: string, text: string): Promise<string>;
  cancel(sessionId: string): Promise<void>;
  setMode(sessionId: string, modeId: string): Promise<void>;
  /** Resolves with the values of all options. */
  setOption(sessionId: string, configId: string, value: string): Promise<readonly unknown[]>;
  /** Text and tool call states, in order. */
  readonly receivedUpdates: readonly string[];
  /** Resolves when an update starts with this text. */
  waitForUpdate(beginning: string): Promise<void>;
  /** The titles of the received permission requests. */
  readonly permissionTitles: readonly string[];
}

type Connect = (agent: AcpProcess) => Promise<SdkClient>;

/** The official client in several versions. Each approves every request. */
export const SDK_CLIENTS: readonly (readonly [version: string, connect: Connect])[] = [
  ["0.20", (agent) => connectClassClient(sdk0, agent)],
  ["1.9", (agent) => connectClassClient(sdk1, agent)],
  ["2.4", (agent) => connectAppClient(sdk2.ndJsonStream(...toWebStreams(agent)))],
];

/** The common form of an update in all versions. */
interface Update {
  readonly sessionUpdate: string;
  readonly content?: unknown;
  readonly status?: string | null;
  readonly currentModeId?: string;
}

interface PermissionQuestion {
  readonly toolCall: { readonly title?: string | null };
  readonly options: readonly { readonly optionId: string; readonly kind: string }[];
}

function createUpdateRecorder() {
  const receivedUpdates: string[] = [];
  const permissionTitles: string[] = [];
  let waiting: (() => void)[] = [];
  return {
    receivedUpdates,
    permissionTitles,
    update: ({ sessionUpdate, content, status, currentModeId }: Update): void => {
      const text = isText(content) ? content.text : (status ?? currentModeId ?? "");
      receivedUpdates.push(`${sessionUpdate}: ${text}`);
      for (const wake of waiting) wake();
      waiting = [];
    },
    permission: ({ toolCall, options }: PermissionQuestion) => {
      permissionTitles.push(toolCall.title ?? "");
      const optionId = options.find(({ kind }) => kind === "allow_once")?.optionId ?? "";
      return { outcome: { outcome: "selected" as const, optionId } };
    },
    async waitForUpdate(beginning: string): Promise<void> {
      while (!receivedUpdates.some((one) => one.startsWith(beginning))) {
        const next = new Promise<void>((resolve) => {
          waiting.push(resolve);
        });
        await withDeadline(
          next,
          () => `no update "${beginning}"; these came:\n  ${formatTail(receivedUpdates)}`,
        );
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

function toWebStreams({ input, output }: AcpProcess) {
  return [Writable.toWeb(input), Readable.toWeb(output) as ReadableStream<Uint8Array>] as const;
}

/** Versions up to 1.x: a client class. */
async function connectClassClient(
  sdk: typeof sdk0 | typeof sdk1,
  agent: AcpProcess,
): Promise<SdkClient> {
  const { update, permission, ...recorded } = createUpdateRecorder();
  const client = {
    sessionUpdate: async (notification: { update: Update }) => update(notification.update),
    requestPermission: async (question: PermissionQuestion) => permission(question),
  };
  const connection = new sdk.ClientSideConnection(
    () => client,
    sdk.ndJsonStream(...toWebStreams(agent)),
  );
  await connection.initialize(INITIALIZE);
  return {
    ...recorded,
    newSession: async (cwd) => (await connection.newSession({ cwd, mcpServers: [] })).sessionId,
    async loadSession(sessionId, cwd) {
      await connection.loadSession({ sessionId, cwd, mcpServers: [] });
    },
    async resumeSession(sessionId, cwd) {
      await connection.resumeSession({ sessionId, cwd, mcpServers: [] });
    },
    async prompt(sessionId, promptText) {
      const prompt = [{ type: "text" as const, text: promptText }];
      return (await connection.prompt({ sessionId, prompt })).stopReason;
    },
    cancel: (sessionId) => connection.cancel({ sessionId }),
    async setMode(sessionId, modeId) {
      await connection.setSessionMode({ sessionId, modeId });
    },
    async setOption(sessionId, configId, value) {
      const params = { sessionId, configId, value };
      return readValues(await connection.setSessionConfigOption(params));
    },
  };
}

/** The same client over HTTP. */
export function connectHttpClient(
  url: string,
  headers: { readonly [name: string]: string },
): Promise<SdkClient> {
  return connectAppClient(createHttpStream(url, { headers }));
}

/** Versions from 2.x: handlers by method. */
async function connectAppClient(stream: sdk2.Stream): Promise<SdkClient> {
  const { update, permission, ...recorded } = createUpdateRecorder();
  const { agent: to } = sdk2
    .client()
    .onNotification("session/update", ({ params }) => update(params.update))
    .onRequest("session/request_permission", ({ params }) => permission(params))
    .connect(stream);
  await to.request("initialize", INITIALIZE);
  return {
    ...recorded,
    newSession: async (cwd) => (await to.request("session/new", { cwd, mcpServers: [] })).sessionId,
    async loadSession(sessionId, cwd) {
      await to.request("session/load", { sessionId, cwd, mcpServers: [] });
    },
    async resumeSession(sessionId, cwd) {
      await to.request("session/resume", { sessionId, cwd, mcpServers: [] });
    },
    async prompt(sessionId, promptText) {
      const params = { sessionId, prompt: [{ type: "text", text: promptText }] } as const;
      return (await to.request<sdk2.PromptResponse>("session/prompt", params)).stopReason;
    },
    cancel: (sessionId) => to.notify("session/cancel", { sessionId }),
    async setMode(sessionId, modeId) {
      await to.request("session/set_mode", { sessionId, modeId });
    },
    async setOption(sessionId, configId, value) {
      return readValues(
        await to.request("session/set_config_option", { sessionId, configId, value }),
      );
    },
  };
}

function readValues({
  configOptions,
}: {
  readonly configOptions: readonly { readonly currentValue: unknown }[];
}): readonly unknown[] {
  return configOptions.map(({ currentValue }) => currentValue);
}
