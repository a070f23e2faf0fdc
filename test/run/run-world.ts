import { onTestFinished } from "vitest";
import type { AgentDefinition } from "../../src/config/agent/agent-definition.ts";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import { parseScenario } from "../../src/emulator/brains/script/parse-scenario.ts";
import { createScriptBrain } from "../../src/emulator/brains/script/script-brain.ts";
import { emulate, TEST_CREDENTIALS, type BrainRequest } from "../../src/emulator/index.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { harnessProvider } from "../../src/providers/agentcore/harness-provider.ts";
import type { Provider } from "../../src/providers/provider.ts";
import type { Agent } from "../../src/session/runtime/agent/agent.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import type { Tool, ToolContext } from "../../src/tools/tool.ts";

export interface ScriptedProvider {
  readonly provider: Provider;
  /** Requests to the agent, in order, a single request per invocation. */
  readonly requests: readonly BrainRequest[];
  /** Ids of stopped upstream sessions. */
  readonly stopped: readonly string[];
}

/** A harness on a real emulator which plays a scenario. */
export async function scripted(scenario: string): Promise<ScriptedProvider> {
  const script = createScriptBrain(parseScenario("run.yaml", scenario), systemClock);
  const requests: BrainRequest[] = [];
  const stopped: string[] = [];
  const emulator = await emulate({
    brain: "script",
    brains: {
      script: {
        respond(request) {
          requests.push(request);
          return script.respond(request);
        },
      },
    },
  });
  onTestFinished(() => emulator.close());
  const inner = harnessProvider({
    harnessArn: emulator.demoArn,
    endpoint: emulator.url,
    credentials: TEST_CREDENTIALS,
  });
  const provider: Provider = {
    ...inner,
    open(options) {
      const session = inner.open(options);
      return {
        ...session,
        async stop(stopping) {
          stopped.push(session.id);
          await session.stop(stopping);
        },
      };
    },
  };
  return { provider, requests, stopped };
}

type Parts = Omit<AgentDefinition, "name">;

/** An agent with all of its tools allowed without approval. */
export function agentWith(definition: Parts): Agent {
  return defineAgent({ name: "test", approvals: { default: "allow" }, ...definition });
}

/** A tool which accepts any input. */
export function tool(
  name: string,
  run: (input: object, context: ToolContext) => unknown,
  more: { readonly timeoutMs?: number } = {},
): Tool {
  const input = { type: "object" } as const;
  return defineTool({ name, description: `Does ${name}`, input, run, ...more });
}
