import { isToolQuestion } from "../../../src/domain/policy/approval-decision.ts";
import type { AgentSpec } from "../../../src/domain/agent-spec.ts";
import type { EventOf } from "../../../src/domain/events/session-event.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import type { JsonObject } from "../../../src/data/json.ts";
import type {
  PathFact,
  PolicyAction,
  PolicyDecision,
} from "../../../src/domain/policy/policy-decision.ts";
import type { SessionMode } from "../../../src/domain/session-mode.ts";
import { findDueEffects } from "../../../src/session/due-effects.ts";
import { isIdempotent, isReading, rulesFor, type Ruled } from "./agent-specs.ts";
import { must } from "./assert-rule.ts";
import { sha256 } from "./moves.ts";
import type { Step } from "./simulated-session.ts";

/** A tool call, as far as its permission to run depends on it. */
interface JudgedCall {
  readonly name: string;
  /** The arguments from the agent. */
  readonly called: JsonObject | null;
  input: JsonObject | null;
  isClosed: boolean;
  isRunning: boolean;
  /** Number of starts. */
  starts: number;
  /** The definition of its tool when its client disconnected. Undefined unless the call waits for a host. */
  awaited: string | undefined;
  /** The latest resolved paths, with the digest of their arguments. */
  found: { readonly digest: string; readonly paths: readonly PathFact[] } | undefined;
  /** The latest receipt. */
  receipt:
    | {
        readonly agent: string;
        readonly mode: SessionMode;
        readonly digest: string;
        readonly action: PolicyAction;
        readonly grantId: string | undefined;
      }
    | undefined;
  /** The latest approval. */
  yes:
    | { readonly digest: string; readonly principals: number; readonly shownWords: string }
    | undefined;
}

/** An open approval request with its votes. */
interface OpenRequest {
  readonly request: EventOf<"approval.requested">;
  /** Approved arguments by principal. */
  readonly votes: Map<string, string>;
  /** The description of the tool at the time of the request. */
  readonly shownWords: string;
  /** Set if an earlier input made the request. */
  isOld?: true;
}

/** A grant in force. */
interface GrantRecord {
  readonly tool: string;
  readonly rule: string;
  /** The rules of the grant are still in force. */
  isOfTheseRules: boolean;
}

/** Checks from the log alone which tools may run: no decision, vote or grant counts for more than it states. */
export function approvalRules(): {
  readonly take: (envelope: Envelope) => void;
  readonly check: (step: Step) => void;
} {
  let agent: EventOf<"agent.configured"> | undefined;
  let mode: SessionMode = "default";
  const calls = new Map<string, JudgedCall>();
  const questions = new Map<string, OpenRequest>();
  const grants = new Map<string, GrantRecord>();
  /** Requests decided with `allow-always` in this input. */
  let always: EventOf<"approval.requested"> | undefined;

  /** Whether this input invalidated all earlier approvals. */
  let isDoubted = false;

  const call = (toolCallId: string): JudgedCall => {
    const seen = calls.get(toolCallId);
    must(seen !== undefined, "a decision concerns a received call");
    return seen;
  };
  const definition = (): AgentSpec => {
    must(agent !== undefined, "an agent is configured before any decision");
    return agent.spec;
  };

  const words = (name: string): string =>
    JSON.stringify(definition().tools.find((one) => one.name === name) ?? null);
  const isApproved = ({ yes, name, ...seen }: JudgedCall, approvers: number): boolean =>
    yes?.digest === digestOf(seen) && yes.principals >= approvers && yes.shownWords === words(name);

  /** A grant does not satisfy a mode which asks. */
  const isNarrowed = ({ name }: JudgedCall): boolean => mode !== "default" && !isReading(name);

  /** Whether the call may have taken effect. A start which is evaluated again before its run does not count. */
  const mayHaveRun = ({ name, starts, isRunning, awaited }: JudgedCall): boolean => {
    const isStarting = isRunning && awaited === undefined;
    return !isIdempotent(name) && starts > (isStarting ? 1 : 0);
  };
  /** Rules and mode. A call which may have taken effect runs again only with an approval. */
  const rulesOn = (seen: JudgedCall): Ruled => {
    const rules = rulesFor(seen.name, definition(), mode);
    if (!mayHaveRun(seen) || rules.action === "deny") return rules;
    return { action: "ask", approvers: Math.max(1, rules.approvers) };
  };

  function examined({ toolCallId, digest, paths }: EventOf<"tool_call.paths_resolved">): void {
    const seen = call(toolCallId);
    must(digest === digestOf(seen), "resolved arguments are the current ones");
    must(!seen.isClosed && !seen.isRunning, "a running or finished call is not resolved");
    seen.found = { digest, paths };
  }

  function decided({
    toolCallId,
    digest,
    agent: by,
    mode: judgedIn = "default",
    decision,
    grantId,
  }: EventOf<"policy.decided">): void {
    const seen = call(toolCallId);
    const { action } = decision;
    must(!seen.isClosed, "a finished call is not evaluated");
    must(digest === digestOf(seen), "evaluated arguments are the current ones");
    must(by === agent?.digest, "the current rules are evaluated");
    must(judgedIn === mode, "the current mode is evaluated");
    const rules = rulesOn(seen);
    must(
      definition().tools.some(({ name }) => name === seen.name),
      "only existing tools are evaluated",
    );
    must(rules.action !== "deny" || action === "deny", "a denial is never overridden");
    const isOther = digest !== sha256(JSON.stringify(seen.called));
    must(!isOther || seen.found?.digest === digest, "edited arguments are resolved");
    must((action === "ask") === decision.approvers > 0, "a request has a number of approvers");
    must(
      action !== "ask" || decision.approvers === Math.max(1, rules.approvers),
      "the number of approvers matches the rules",
    );
    must(
      seen.awaited === undefined || seen.awaited === words(seen.name),
      "a waiting call is evaluated only while its tool is unchanged",
    );
    checkPaths(seen, decision);
    if (action === "allow" && rules.action === "ask") {
      const grant = grantId === undefined ? undefined : grants.get(grantId);
      const isGranted =
        grant?.tool === seen.name &&
        grant.isOfTheseRules &&
        grant.rule === JSON.stringify(decision.rule) &&
        rules.approvers === 1 &&
        !mayHaveRun(seen) &&
        !isNarrowed(seen);
      must(
        isGranted || isApproved(seen, rules.approvers),
        "a call which needs approval waits for it",
      );
    }
    must(grantId === undefined || action === "allow", "a grant only allows");
    seen.receipt = { agent: by, mode, digest, action, grantId };
  }

  /** Every path is evaluated by its resolution for the same arguments; an unresolved path is invalid. */
  function checkPaths(
    { name, input, found }: JudgedCall,
    { action, context }: PolicyDecision,
  ): void {
    const { paths: judged } = context;
    // For a tool without declared paths, a policy treats `path` as one.
    const hasPaths = name.endsWith("_path") || definition().policy !== undefined;
    const path = hasPaths ? input?.["path"] : undefined;
    if (typeof path !== "string") return must(judged.length === 0, "no path is invented");
    const [fact] = judged;
    must(judged.length === 1 && fact?.input === path, "every path is evaluated");
    const isFound = found?.digest === sha256(JSON.stringify(input)) ? found.paths[0] : undefined;
    must(fact.location === (isFound?.location ?? "invalid"), "a path has its resolved location");
    must(fact.location === "inside" || action === "deny", "a path outside the workspace is denied");
  }

  function requested(request: EventOf<"approval.requested">): void {
    const shownWords = isToolQuestion(request.question) ? words(call(request.subjectId).name) : "";
    questions.set(request.approvalId, { request, votes: new Map(), shownWords });
    if (request.question === "outcome") {
      const seen = call(request.subjectId);
      seen.found = seen.awaited = undefined;
      seen.isRunning = false;
    }
    if (request.question !== "run") return;
    const { receipt } = call(request.subjectId);
    must(
      receipt?.action === "ask" && receipt.agent === agent?.digest,
      "a request follows a decision to ask",
    );
    const { approvers = 1, options, input } = request;
    must(sha256(JSON.stringify(input)) === receipt.digest, "people see the evaluated arguments");
    must(
      approvers === request.decision?.approvers,
      "the request has the number of approvers of the rules",
    );
    must(
      approvers === 1 || !options.includes("allow-always"),
      "several approvers are not offered a grant",
    );
  }

  function voted({ approvalId, principal, digest }: EventOf<"approval.voted">, by: string): void {
    const { votes, request } = findOpenRequest(approvalId);
    must(principal === by, "a vote names its sender");
    must(votes.get(principal) !== digest, "a principal does not repeat a vote");
    // An approval of other arguments replaces the earlier one.
    votes.set(principal, digest);
    const agreed = [...votes.values()].filter((one) => one === digest).length;
    must(agreed < (request.approvers ?? 1), "no vote is recorded after enough approvals");
  }

  function resolved(event: EventOf<"approval.resolved">, by: string | undefined): void {
    const { approvalId, decision, input, principals = [] } = event;
    const { request, votes, shownWords } = findOpenRequest(approvalId);
    questions.delete(approvalId);
    must(
      event.resolvedBy !== "change" || request.question === "run" || isDoubted,
      "only a request to be repeated is withdrawn",
    );
    if (!["allow", "allow-always", "run-again"].includes(decision)) return;
    must(by !== undefined, "an approval has an actor");
    const seen = call(request.subjectId);
    if (input !== undefined) seen.input = input;
    const digest = digestOf(seen);
    const agreed = [...votes].filter(([, one]) => one === digest).map(([name]) => name);
    const all = new Set([...agreed, by]);
    must(all.size >= (request.approvers ?? 1), "enough principals approved");
    must(all.size === agreed.length + 1, "a principal approves once");
    const isListed = principals.length === all.size && principals.every((one) => all.has(one));
    must((request.approvers ?? 1) === 1 || isListed, "all approvers are named");
    seen.yes = { digest, principals: all.size, shownWords };
    seen.isRunning = false;
    if (decision === "allow-always" && input === undefined) always = request;
  }

  function checkGrant({ grantId, approvalId, scope }: EventOf<"grant.added">): void {
    must(always?.approvalId === approvalId, "a grant follows `allow-always`");
    must(call(always.subjectId).name === scope.tool, "a grant covers the requested tool");
    must(!grants.has(grantId), "a grant is added once");
    grants.set(grantId, {
      tool: scope.tool,
      rule: JSON.stringify(scope.rule),
      isOfTheseRules: true,
    });
  }

  function started({ toolCallId, digest, isRepeat }: EventOf<"tool.started">): void {
    const seen = call(toolCallId);
    const { receipt } = seen;
    const rules = rulesOn(seen);
    must(digest === digestOf(seen), "a tool runs with its current arguments");
    must(rules.action !== "deny", "a call denied by the current rules never runs");
    must(
      receipt !== undefined && receipt.agent === agent?.digest && receipt.digest === digest,
      "the current rules evaluated these arguments",
    );
    must(receipt.mode === mode, "the current mode was evaluated");
    if (receipt.action === "ask" || rules.action === "ask") {
      const isGiven = receipt.grantId !== undefined && grants.has(receipt.grantId);
      const isGranted = isGiven && !mayHaveRun(seen) && !isNarrowed(seen);
      must(isGranted || isApproved(seen, rules.approvers), "a tool runs with a valid approval");
    }
    must(receipt.action !== "deny", "a denied call does not run");
    must(isRepeat !== true || seen.awaited !== undefined, "only a waiting call is repeated");
    seen.awaited = undefined;
    seen.isRunning = true;
    seen.starts += 1;
  }

  const findOpenRequest = (approvalId: string): OpenRequest => {
    const question = questions.get(approvalId);
    must(question !== undefined, "only an open request is decided");
    return question;
  };

  return {
    take({ event, actor }) {
      switch (event.type) {
        case "agent.configured": {
          const isOther = agent !== undefined && rulesOf(agent) !== rulesOf(event);
          if (isOther) for (const grant of grants.values()) grant.isOfTheseRules = false;
          const before = new Map(
            [...calls.values()].map(({ name }) => [name, agent && words(name)]),
          );
          agent = event;
          for (const seen of calls.values()) {
            // The paths of a waiting call are those of the attempt to repeat.
            const isAwaited = seen.awaited !== undefined;
            if (!isAwaited && before.get(seen.name) !== words(seen.name)) seen.found = undefined;
          }
          return;
        }
        case "session.mode_changed":
          must(event.mode !== mode, "an unchanged mode is not logged again");
          mode = event.mode;
          return;
        case "tool_call.opened":
        case "tool_call.received": {
          const { toolCallId } = event;
          const isCalled = event.type === "tool_call.received";
          const name = isCalled ? event.toolCall.name : event.name;
          const input = isCalled ? event.toolCall.input : null;
          const nothing = {
            awaited: undefined,
            found: undefined,
            receipt: undefined,
            yes: undefined,
          };
          calls.set(toolCallId, {
            name,
            called: input,
            input,
            isClosed: false,
            isRunning: false,
            starts: 0,
            ...nothing,
          });
          return;
        }
        case "tool_call.paths_resolved":
          return examined(event);
        case "policy.decided":
          return decided(event);
        case "approval.requested":
          return requested(event);
        case "approval.voted":
          return voted(event, actor?.principal ?? "");
        case "approval.resolved":
          return resolved(event, actor?.principal);
        case "grant.added":
          return checkGrant(event);
        case "grant.revoked":
          must(grants.delete(event.grantId), "only an existing grant is revoked");
          return;
        case "approvals.invalidated":
          isDoubted = true;
          grants.clear();
          for (const { votes } of questions.values()) votes.clear();
          for (const seen of calls.values()) {
            if (!seen.isClosed) seen.found = seen.receipt = seen.yes = undefined;
          }
          return;
        case "tool.started":
          return started(event);
        case "tool.waiting_for_host": {
          const seen = call(event.toolCallId);
          seen.awaited ??= words(seen.name);
          return;
        }
        case "tool.finished":
          call(event.toolCallId).isClosed = true;
          return;
        default:
      }
    },

    check({ happening, events, after }) {
      always = undefined;
      const isAskedBefore =
        isDoubted &&
        [...questions.values()].some(
          ({ isOld, request }) => isOld === true && isToolQuestion(request.question),
        );
      must(!isAskedBefore, "requests are repeated after an invalidation");
      for (const question of questions.values()) question.isOld = true;
      isDoubted = false;
      for (const [grantId, { isOfTheseRules }] of grants) {
        must(isOfTheseRules, `a grant of other rules is revoked (${grantId})`);
      }
      for (const { request, shownWords } of questions.values()) {
        if (request.question !== "run") continue;
        const seen = call(request.subjectId);
        must(shownWords === words(seen.name), "an open request shows the current tool");
        const rules = rulesOn(seen);
        must(rules.action === "ask", "an open request is still needed");
        must(
          (request.approvers ?? 1) === rules.approvers,
          "an open request has the current number of approvers",
        );
      }
      for (const { isClosed, receipt } of calls.values()) {
        must(isClosed || receipt?.action !== "deny", "a denied call is finished");
      }
      if (happening.type === "paths-resolved") {
        const seen = calls.get(happening.toolCallId);
        const isWanted = seen !== undefined && happening.digest === digestOf(seen);
        const isTaken = events.some(({ event }) => event.type === "tool_call.paths_resolved");
        must(isWanted || !isTaken, "a resolution of other arguments is ignored");
      }
      for (const effect of findDueEffects(after).effects.values()) {
        if (effect.type !== "resolve-paths") continue;
        const seen = call(effect.toolCallId);
        must(!seen.isClosed && !seen.isRunning, "only calls waiting to start are resolved");
        must(effect.digest === digestOf(seen), "only current arguments are resolved");
      }
    },
  };
}

function digestOf({ input }: Pick<JudgedCall, "input">): string {
  return sha256(JSON.stringify(input ?? {}));
}

/** Identifies the rules which `rulesFor` distinguishes. */
function rulesOf({ spec }: EventOf<"agent.configured">): string {
  return `${spec.name} ${spec.policy === undefined}`;
}
