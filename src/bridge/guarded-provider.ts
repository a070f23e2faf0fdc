import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import type { ProviderEvent } from "../domain/provider-event.ts";
import { addUsage, type Usage } from "../domain/usage.ts";
import type { Provider, ProviderCall } from "../providers/provider.ts";

/** What is known between two calls of the provider. */
export interface Spent {
  readonly calls: number;
  readonly usage: Usage | null;
}

/** Looks at what was spent before every call but the first; a reason that it gives ends the turn there. */
export type TurnGuard = (spent: Spent) => string | undefined | Promise<string | undefined>;

export interface GuardOptions {
  readonly guard?: TurnGuard | undefined;
  /** Whether the agent has done all that was wanted of it: then what it would say to that is not bought. */
  readonly isDone: () => boolean;
}

export interface GuardedProvider {
  readonly provider: Provider;
  readonly spent: Spent;
}

/** The provider of one run, that counts, and asks before it is called again. A call that is stopped here is never made. */
export function guardedProvider(provider: Provider, options: GuardOptions): GuardedProvider {
  const { guard, isDone } = options;
  let spent: Spent = { calls: 0, usage: null };
  const open: Provider["open"] = (openOptions) => {
    const session = provider.open(openOptions);
    // Its methods may be those of a class, which a spread would lose.
    const stop = session.stop?.bind(session);
    const runCommand = session.runCommand?.bind(session);
    return {
      id: session.id,
      ...(stop !== undefined && { stop }),
      ...(runCommand !== undefined && { runCommand }),
      async call(input, callOptions) {
        if (isDone()) return DONE;
        const reason =
          spent.calls === 0 || guard === undefined ? undefined : await asked(guard, spent);
        if (reason !== undefined) {
          throw new SpanlineError("halted", `The turn was halted: ${reason}`);
        }
        // From here on it may be paid for, whatever becomes of it.
        spent = { ...spent, calls: spent.calls + 1 };
        const call = await session.call(input, callOptions);
        return counted(call, (usage) => {
          spent = { ...spent, usage: sumOf(spent.usage, usage) };
        });
      },
    };
  };
  const { name, seams, effectFree, keepsHistory = true, takes = {} } = provider;
  return {
    provider: { name, seams, effectFree, keepsHistory, takes, open },
    get spent() {
      return spent;
    },
  };
}

const DONE: ProviderCall = {
  requestId: undefined,
  close() {},
  async *[Symbol.asyncIterator](): AsyncGenerator<ProviderEvent> {
    const end = { outcome: "completed", reason: "terminal_tool", openCalls: [] } as const;
    yield { type: "end", ...end, usage: null };
  },
};

/** A guard that cannot say whether to go on has not said so. */
async function asked(guard: TurnGuard, spent: Spent): Promise<string | undefined> {
  try {
    return await guard(spent);
  } catch (cause) {
    const message = `The turn was halted: its guard failed: ${thrownMessage(cause)}`;
    throw new SpanlineError("halted", message, { cause });
  }
}

function counted(call: ProviderCall, count: (usage: Usage | null) => void): ProviderCall {
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

function sumOf(left: Usage | null, right: Usage | null): Usage | null {
  if (left === null || right === null) return left ?? right;
  return addUsage(left, right);
}
