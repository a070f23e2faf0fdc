import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { addUsage, type Usage } from "../../domain/usage.ts";
import type { Provider, ProviderInvocation } from "../../providers/provider.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** What is known between two calls of the provider. */
export interface TurnUsage {
  readonly invocations: number;
  readonly usage: Usage | null;
}

/** Looks at what was spent before every call but the first; a reason that it gives ends the turn there. */
export type TurnGuard = (usage: TurnUsage) => string | undefined | Promise<string | undefined>;

export interface GuardOptions {
  readonly guard?: TurnGuard | undefined;
  /** Whether the agent has done all that was wanted of it: then what it would say to that is not bought. */
  readonly isDone: () => boolean;
}

export interface GuardedProvider {
  readonly provider: Provider;
  readonly turnUsage: TurnUsage;
}

/** The provider of one run, that counts, and asks before it is called again. A call that is stopped here is never made. */
export function createGuardedProvider(provider: Provider, options: GuardOptions): GuardedProvider {
  const { guard, isDone } = options;
  let turnUsage: TurnUsage = { invocations: 0, usage: null };
  const open: Provider["open"] = (openOptions) => {
    const session = provider.open(openOptions);
    // Its methods may be those of a class, which a spread would lose.
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
        // From here on it may be paid for, whatever becomes of it.
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

/** A guard that cannot say whether to go on has not said so. */
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
