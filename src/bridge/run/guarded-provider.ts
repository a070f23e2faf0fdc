import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { addUsage, type Usage } from "../../domain/usage.ts";
import type { Provider, ProviderInvocation } from "../../providers/provider.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** The usage of a turn between two invocations. */
export interface TurnUsage {
  readonly invocations: number;
  readonly usage: Usage | null;
}

/** Called with the usage before every invocation except the first. A returned reason ends the turn. */
export type TurnGuard = (usage: TurnUsage) => string | undefined | Promise<string | undefined>;

export interface GuardOptions {
  readonly guard?: TurnGuard | undefined;
  /** True if the agent's terminal tool has succeeded. The following invocation is then skipped to save its cost. */
  readonly isDone: () => boolean;
}

export interface GuardedProvider {
  readonly provider: Provider;
  readonly turnUsage: TurnUsage;
}

/**
 * Wraps the provider of one run: counts invocations and usage, and calls the guard before each further invocation. A
 * stopped invocation is never sent.
 */
export function createGuardedProvider(provider: Provider, options: GuardOptions): GuardedProvider {
  const { guard, isDone } = options;
  let turnUsage: TurnUsage = { invocations: 0, usage: null };
  const open: Provider["open"] = (openOptions) => {
    const session = provider.open(openOptions);
    // The methods may belong to a class, so spreading the object would lose them.
    const stop = session.stop?.bind(session);
    const runCommand = session.runCommand?.bind(session);
    return {
      id: session.id,
      ...omitUndefined({ stop, runCommand }),
      async invoke(input, callOptions) {
        if (isDone()) return COMPLETED_INVOCATION;
        const reason =
          turnUsage.invocations === 0 || guard === undefined
            ? undefined
            : await evaluateGuard(guard, turnUsage);
        if (reason !== undefined) {
          throw new SpanlineError("halted", `The turn was halted: ${reason}`);
        }
        // The invocation may cost money from here on, whatever its outcome.
        turnUsage = { ...turnUsage, invocations: turnUsage.invocations + 1 };
        const call = await session.invoke(input, callOptions);
        return countUsage(call, (usage) => {
          turnUsage = { ...turnUsage, usage: addOptionalUsage(turnUsage.usage, usage) };
        });
      },
    };
  };
  const { name, injectionPoints, effectFree, keepsHistory = true, capabilities = {} } = provider;
  return {
    provider: { name, injectionPoints, effectFree, keepsHistory, capabilities, open },
    get turnUsage() {
      return turnUsage;
    },
  };
}

const COMPLETED_INVOCATION: ProviderInvocation = {
  requestId: undefined,
  close() {},
  async *[Symbol.asyncIterator](): AsyncGenerator<ProviderEvent> {
    const end = { outcome: "completed", reason: "terminal_tool", openToolCallIds: [] } as const;
    yield { type: "end", ...end, usage: null };
  },
};

/** A guard that throws halts the turn. */
async function evaluateGuard(guard: TurnGuard, turnUsage: TurnUsage): Promise<string | undefined> {
  try {
    return await guard(turnUsage);
  } catch (cause) {
    const message = `The turn was halted: its guard failed: ${formatThrown(cause)}`;
    throw new SpanlineError("halted", message, { cause });
  }
}

function countUsage(
  call: ProviderInvocation,
  count: (usage: Usage | null) => void,
): ProviderInvocation {
  return {
    requestId: call.requestId,
    close: () => call.close(),
    async *[Symbol.asyncIterator](): AsyncGenerator<ProviderEvent> {
      for await (const event of call) {
        if (event.type === "end") count(event.usage);
        yield event;
      }
    },
  };
}

function addOptionalUsage(first: Usage | null, second: Usage | null): Usage | null {
  if (first === null || second === null) return first ?? second;
  return addUsage(first, second);
}
