import { describe, expect, it } from "vitest";
import { runToCompletion } from "../../src/bridge/run/run-to-completion.ts";
import type { JsonObject } from "../../src/data/json.ts";
import {
  defineTool,
  type Actor,
  type SteadyClock,
  type Tool,
  type ToolDefinition,
  type ToolSpec,
} from "../../src/index.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type {
  InvocationInput,
  InvocationOptions,
  OpenOptions,
  Provider,
  ProviderInvocation,
  ProviderSession,
  InjectionPoint,
  StopOptions,
} from "../../src/providers/provider.ts";
import { agentWith, scripted } from "./run-world.ts";

/** A session with its methods on a class and its state in private fields, reached through `this`. */
class ClassSession implements ProviderSession {
  readonly #inner: ProviderSession;
  readonly #stopped: string[];
  constructor(inner: ProviderSession, stopped: string[]) {
    this.#inner = inner;
    this.#stopped = stopped;
  }
  get id(): string {
    return this.#inner.id;
  }
  invoke(input: InvocationInput, options: InvocationOptions): Promise<ProviderInvocation> {
    return this.#inner.invoke(input, options);
  }
  async stop(options: StopOptions): Promise<void> {
    this.#stopped.push(this.id);
    await this.#inner.stop?.(options);
  }
}

class ClassProvider implements Provider {
  readonly stopped: string[] = [];
  readonly #inner: Provider;
  constructor(inner: Provider) {
    this.#inner = inner;
  }
  get name(): string {
    return this.#inner.name;
  }
  get injectionPoints(): readonly InjectionPoint[] {
    return this.#inner.injectionPoints;
  }
  get effectFree(): boolean {
    return this.#inner.effectFree;
  }
  open(options?: OpenOptions): ProviderSession {
    return new ClassSession(this.#inner.open(options), this.stopped);
  }
}

class Finish implements Tool {
  readonly #seen: JsonObject[] = [];
  get spec(): ToolSpec {
    const schema = { type: "object" } as const;
    const name = "finish";
    return { name, description: "Ends it", schema, idempotent: false, timeoutMs: 1000 };
  }
  get seen(): readonly JsonObject[] {
    return this.#seen;
  }
  check(input: JsonObject): string | undefined {
    return this.#seen.includes(input) ? "again" : undefined;
  }
  run(input: JsonObject): string {
    this.#seen.push(input);
    return "finished";
  }
}

const FINISH = `
turns:
  - when: { result: finish }
    answer: Never said.
  - answer: [Let me see., { call: finish, input: { answer: 42 } }]
`;

describe("Runs with class instances", () => {
  it("The methods of a provider, its sessions and a terminal tool keep their `this`", async () => {
    const { provider, requests } = await scripted(FINISH);
    const finish = new Finish();
    const agent = agentWith({
      provider: new ClassProvider(provider),
      tools: [finish],
      terminalTool: { name: "finish" },
    });
    const result = await runToCompletion(agent, { prompt: "Go", stopAtTerminalTool: true });
    expect(result).toMatchObject({ outcome: "completed", reason: "terminal_tool", steps: 1 });
    expect(finish.seen).toEqual([{ answer: 42 }]);
    expect(requests).toHaveLength(1);
  });

  it("The upstream session of a cancelled run is stopped", async () => {
    const { provider } = await scripted("turns: [{ answer: [One., { pause: 60000 }, Two.] }]");
    const countingProvider = new ClassProvider(provider);
    const end = new AbortController();
    const result = await runToCompletion(
      agentWith({ provider: countingProvider, settle: "stop" }),
      {
        prompt: "Go",
        signal: end.signal,
        onEvent: ({ event }) => event.type === "text.delta" && end.abort(),
      },
    );
    expect(result.outcome).toBe("cancelled");
    expect(countingProvider.stopped.length).toBeGreaterThan(0);
  });
});

describe("Types of the public entry", () => {
  it("The public entry exports the types that a caller has to name", async () => {
    const clock: SteadyClock = systemClock;
    const definition: ToolDefinition<JsonObject, JsonObject> = {
      name: "look",
      description: "Looks",
      input: { type: "object" },
      run: () => "seen",
    };
    const actors = new Set<Actor["kind"]>();
    const { provider } = await scripted("turns: [{ answer: Hello. }]");
    await runToCompletion(agentWith({ provider, tools: [defineTool(definition)] }), {
      prompt: "Go",
      clock,
      onEvent: ({ actor }) => actor && actors.add(actor.kind),
    });
    expect([...actors]).toContain("user");
  });
});
