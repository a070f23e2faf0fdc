import { onTestFinished } from "vitest";
import { defineAgent } from "../../../src/bridge/agent/define-agent.ts";
import { startDemoAgent } from "../../../src/bridge/agent/demo-agent.ts";
import type { ModelBlock } from "../../../src/domain/model/model-request.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import type { ResponsesSettings } from "../../../src/domain/responses-settings.ts";
import { temporaryFolder } from "../../store/sqlite-support.ts";
import {
  createScriptedProvider,
  type ReceivedInvocation,
} from "../../support/session/scripted-provider.ts";
import { asAnswer, turnFor, type AgentCall, type AgentScript } from "./agent-script.ts";
import { serveSessions } from "./serve-sessions.ts";
import type { Served, Target } from "./target.ts";

export interface ServedOptions {
  readonly settings?: Partial<ResponsesSettings>;
}

/** Starts a server over a scripted agent until the test ends. The test fails if the server reported a bug. */
export async function startServed(
  script: AgentScript,
  { settings = {} }: ServedOptions = {},
): Promise<Served> {
  const calls: AgentCall[] = [];
  let resolveInterrupt: () => void = () => {};
  const interrupted = new Promise<void>((resolve) => (resolveInterrupt = resolve));
  const provider = createScriptedProvider(
    [
      (signal, seen) => {
        const call = agentCall(seen);
        calls.push(call);
        return asAnswer(turnFor(script, call, calls.length - 1), resolveInterrupt)(signal, seen);
      },
    ],
    {
      capabilities: { instructions: true, tools: true, allowedTools: true, maxOutputTokens: true },
    },
  );
  const agent = defineAgent({ name: "scripted", provider, images: "describe" });
  const served = await serveSessions({ agents: [agent], settings });
  onTestFinished(() => served.close());
  return { ...served, agentCalls: () => calls, interrupted: () => interrupted };
}

function agentCall({ sessionId, history, input, options }: ReceivedInvocation): AgentCall {
  const { instructions, tools = [] } = options ?? {};
  return {
    sessionId,
    ...(instructions !== undefined && { instructions }),
    history: history.map(({ role, blocks }) => ({ role, text: textIn(blocks) })),
    texts: input.texts ?? [],
    results:
      input.type === "results"
        ? input.results.map(({ parts }) =>
            parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
          )
        : [],
    tools: tools.map(({ name }) => name),
  };
}

function textIn(blocks: readonly ModelBlock[]): string {
  return blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** Starts the same server over the built-in demo agent with its emulator. */
export async function startDemo(): Promise<Target> {
  const { agent, emulator } = await startDemoAgent(temporaryFolder(), systemClock);
  onTestFinished(() => emulator.close());
  const served = await serveSessions({ agents: [agent] });
  onTestFinished(() => served.close());
  return served;
}
