import type { TraceMode } from "../../domain/trace-mode.ts";
import type { Outlook } from "../../session/sessions.ts";
import {
  carriersOf,
  resolveSession,
  statelessCarriers,
} from "../../wire/responses/request/carriers.ts";
import type { CreateRequest } from "../../wire/responses/request/create-request.ts";
import { givenResultsOf, openCallIds } from "../../wire/responses/request/given-results.ts";
import { beginningOf, continuationOf, newResults } from "../../wire/responses/request/new-input.ts";
import {
  fieldOfCommand,
  givenParts,
  promptOptionsOf,
} from "../../wire/responses/request/prompt-parts.ts";
import { noteOf, recordedRequest } from "../../wire/responses/recorded-request.ts";
import type { Ask, GoingOn, NamedSession } from "./ask.ts";
import type { Wish } from "./wish.ts";

export interface ResponseWish extends Wish<CreateRequest> {
  readonly trace: TraceMode;
  /** The caller's connection remembers the response that the request goes on from. */
  readonly isHeld?: boolean;
}

/** A request for a response, as what it wants of a session. */
export function responseAsk(wish: ResponseWish): Ask {
  const { request, caller, trace, retry, header, isHeld = false } = wish;
  const read = wish.isStateless ? statelessCarriers : carriersOf;
  const carriers = read(request, header === undefined ? {} : { header });
  return {
    caller,
    agent: request.model,
    session: namedBy(resolveSession(carriers), isHeld),
    retry,
    answered: {
      callIds: newResults(request.input).map(({ callId }) => callId),
      isAll: request.input.at(-1)?.kind === "result",
    },
    begin() {
      const { content, ...begun } = beginningOf(request);
      return { ...begun, content: givenParts(content) };
    },
    goOn: (sessionId, outlook) => goingOn(request, sessionId, outlook),
    options: (instructions, agentTools) => promptOptionsOf(request, { instructions, agentTools }),
    fieldOf: fieldOfCommand,
    note: ({ agent, clientTools }) =>
      noteOf(recordedRequest(request, { model: request.model ?? agent, trace, clientTools })),
  };
}

function namedBy(
  resolved: ReturnType<typeof resolveSession>,
  isHeld: boolean,
): NamedSession | null {
  if (resolved.found === "none") return null;
  const { sessionId, param, after, isImplied } = resolved;
  return { sessionId, param, isImplied, isHeld, ...(after !== undefined && { after }) };
}

function goingOn(request: CreateRequest, sessionId: string, outlook: Outlook): GoingOn {
  const toolCallIds = outlook.pausedFor;
  const open = { sessionId, toolCallIds };
  const { content, results, ...said } = continuationOf(request, openCallIds(open));
  return {
    ...said,
    content: givenParts(content),
    results: results.length === 0 ? [] : givenResultsOf(results, open),
  };
}
