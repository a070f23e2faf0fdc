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
import { due } from "../../../src/session/due.ts";
import { isIdempotent, isReading, rulesFor, type Ruled } from "./agent-specs.ts";
import { must } from "./assert-rule.ts";
import { sha256 } from "./moves.ts";
import type { Step } from "./simulated-session.ts";

interface JudgedCall {
  readonly name: string;
  /** What the agent wanted it to run with. */
  readonly called: JsonObject | null;
  input: JsonObject | null;
  isClosed: boolean;
  isRunning: boolean;
  /** How often it was started. */
  starts: number;
  /** The definition of its tool when the client that ran it was lost; undefined unless the call is awaited. */
  awaited: string | undefined;
  /** What was last found of its paths, by the arguments that were looked at. */
  found: { readonly digest: string; readonly paths: readonly PathFact[] } | undefined;
  /** The last receipt. */
  receipt:
    | {
        readonly agent: string;
        readonly mode: SessionMode;
        readonly digest: string;
        readonly action: PolicyAction;
        readonly grantId: string | undefined;
      }
    | undefined;
  /** The last yes of people. */
  yes: { readonly digest: string; readonly principals: number; readonly shown: string } | undefined;
}

interface Asked {
  readonly request: EventOf<"approval.requested">;
  /** Who agreed to which arguments. */
  readonly votes: Map<string, string>;
  /** What the tool said of itself then. */
  readonly shown: string;
  /** Asked by an input before the one at hand. */
  isOld?: true;
}

interface Given {
  readonly tool: string;
  readonly rule: string;
  /** The rules under which it was given are those that hold. */
  isOfTheseRules: boolean;
}

/** Who lets what run, told by the log alone: no decision, no vote and no grant is taken for more than it says. */
export function approvalRules(): {
  readonly take: (envelope: Envelope) => void;
  readonly check: (step: Step) => void;
} {
  let agent: EventOf<"agent.configured"> | undefined;
  let mode: SessionMode = "default";
  const calls = new Map<string, JudgedCall>();
  const questions = new Map<string, Asked>();
  const grants = new Map<string, Given>();
  /** Questions that were answered with a yes for good in this same input. */
  let always: EventOf<"approval.requested"> | undefined;

  /** Whether nothing counts any more that was allowed before this same input. */
  let isDoubted = false;

  const call = (toolCallId: string): JudgedCall => {
    const seen = calls.get(toolCallId);
    must(seen !== undefined, "what is decided about was called");
    return seen;
  };
  const definition = (): AgentSpec => {
    must(agent !== undefined, "an agent is bound before anything is decided");
    return agent.spec;
  };

  const words = (name: string): string =>
    JSON.stringify(definition().tools.find((one) => one.name === name) ?? null);
  const isApproved = ({ yes, name, ...seen }: JudgedCall, approvers: number): boolean =>
    yes?.digest === digestOf(seen) && yes.principals >= approvers && yes.shown === words(name);

  /** What was allowed for good is no answer to a mode that asks. */
  const isNarrowed = ({ name }: JudgedCall): boolean => mode !== "default" && !isReading(name);

  /** It may have had its effect. A start that is evaluated again before the effect has begun does not count. */
  const mayHaveRun = ({ name, starts, isRunning, awaited }: JudgedCall): boolean => {
    const isStarting = isRunning && awaited === undefined;
    return !isIdempotent(name) && starts > (isStarting ? 1 : 0);
  };
  /** The rules and the mode, and that nothing but a person runs a call again that may have had its effect. */
  const rulesOn = (seen: JudgedCall): Ruled => {
    const rules = rulesFor(seen.name, definition(), mode);
    if (!mayHaveRun(seen) || rules.action === "deny") return rules;
    return { action: "ask", approvers: Math.max(1, rules.approvers) };
  };

  function examined({ toolCallId, digest, paths }: EventOf<"tool_call.paths_resolved">): void {
    const seen = call(toolCallId);
    must(digest === digestOf(seen), "what is looked at is what it would run with");
    must(!seen.isClosed && !seen.isRunning, "what runs, or is over, is not looked at");
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
    must(!seen.isClosed, "what is over is not judged");
    must(digest === digestOf(seen), "what is judged is what it would run with");
    must(by === agent?.digest, "the rules that hold are asked");
    must(judgedIn === mode, "it is judged in the mode that holds");
    const rules = rulesOn(seen);
    must(
      definition().tools.some(({ name }) => name === seen.name),
      "only tools are judged",
    );
    must(rules.action !== "deny" || action === "deny", "what is denied nobody allows");
    const isOther = digest !== sha256(JSON.stringify(seen.called));
    must(!isOther || seen.found?.digest === digest, "an approver's own arguments are looked at");
    must((action === "ask") === decision.approvers > 0, "who has to be asked is counted");
    must(
      action !== "ask" || decision.approvers === Math.max(1, rules.approvers),
      "none is left out",
    );
    must(
      seen.awaited === undefined || seen.awaited === words(seen.name),
      "an awaited call is evaluated only while its tool is unchanged",
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
      must(isGranted || isApproved(seen, rules.approvers), "what is asked about waits for its yes");
    }
    must(grantId === undefined || action === "allow", "a grant only allows");
    seen.receipt = { agent: by, mode, digest, action, grantId };
  }

  /** Every path is judged by what was found of these very arguments; of what nothing was found, nothing is known. */
  function checkPaths(
    { name, input, found }: JudgedCall,
    { action, context }: PolicyDecision,
  ): void {
    const { paths: judged } = context;
    // Of a tool that does not say which arguments are paths, a policy takes `path` for one.
    const hasPaths = name.endsWith("_path") || definition().policy !== undefined;
    const path = hasPaths ? input?.["path"] : undefined;
    if (typeof path !== "string") return must(judged.length === 0, "no path is made up");
    const [fact] = judged;
    must(judged.length === 1 && fact?.input === path, "every path is judged");
    const isFound = found?.digest === sha256(JSON.stringify(input)) ? found.paths[0] : undefined;
    must(
      fact.location === (isFound?.location ?? "invalid"),
      "a path leads where it was found to lead",
    );
    must(
      fact.location === "inside" || action === "deny",
      "what leads elsewhere, or nowhere, is denied",
    );
  }

  function requested(request: EventOf<"approval.requested">): void {
    const shown = request.question === "lost-invocation" ? "" : words(call(request.subjectId).name);
    questions.set(request.approvalId, { request, votes: new Map(), shown });
    if (request.question === "outcome") {
      const seen = call(request.subjectId);
      seen.found = seen.awaited = undefined;
      seen.isRunning = false;
    }
    if (request.question !== "run") return;
    const { receipt } = call(request.subjectId);
    must(receipt?.action === "ask" && receipt.agent === agent?.digest, "who asks has to");
    const { approvers = 1, options, input } = request;
    must(sha256(JSON.stringify(input)) === receipt.digest, "people see what is judged");
    must(approvers === request.decision?.approvers, "as many are asked as the rules say");
    must(approvers === 1 || !options.includes("allow-always"), "one never allows for several");
  }

  function voted({ approvalId, principal, digest }: EventOf<"approval.voted">, by: string): void {
    const { votes, request } = asked(approvalId);
    must(principal === by, "a vote is of who gave it");
    must(votes.get(principal) !== digest, "nobody says the same twice");
    // Who agrees to other arguments takes back the yes to those before.
    votes.set(principal, digest);
    const agreed = [...votes.values()].filter((one) => one === digest).length;
    must(agreed < (request.approvers ?? 1), "nobody votes where enough have");
  }

  function resolved(event: EventOf<"approval.resolved">, by: string | undefined): void {
    const { approvalId, decision, input, principals = [] } = event;
    const { request, votes, shown } = asked(approvalId);
    questions.delete(approvalId);
    must(
      event.resolvedBy !== "change" || request.question === "run" || isDoubted,
      "only what is asked anew is withdrawn",
    );
    if (!["allow", "allow-always", "run-again"].includes(decision)) return;
    must(by !== undefined, "somebody says yes");
    const seen = call(request.subjectId);
    if (input !== undefined) seen.input = input;
    const digest = digestOf(seen);
    const agreed = [...votes].filter(([, one]) => one === digest).map(([name]) => name);
    const all = new Set([...agreed, by]);
    must(all.size >= (request.approvers ?? 1), "as many said yes as had to");
    must(all.size === agreed.length + 1, "nobody says yes twice");
    const isListed = principals.length === all.size && principals.every((one) => all.has(one));
    must((request.approvers ?? 1) === 1 || isListed, "those who said yes are named");
    seen.yes = { digest, principals: all.size, shown };
    seen.isRunning = false;
    if (decision === "allow-always" && input === undefined) always = request;
  }

  function given({ grantId, approvalId, scope }: EventOf<"grant.added">): void {
    must(always?.approvalId === approvalId, "who gives for good said so");
    must(call(always.subjectId).name === scope.tool, "a grant is of the tool that was asked about");
    must(!grants.has(grantId), "a grant is given once");
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
    must(digest === digestOf(seen), "it runs with what it was given");
    must(rules.action !== "deny", "what the rules deny that hold never runs");
    must(
      receipt !== undefined && receipt.agent === agent?.digest && receipt.digest === digest,
      "the rules that hold were asked about what it runs with",
    );
    must(receipt.mode === mode, "the mode that holds was asked about it");
    if (receipt.action === "ask" || rules.action === "ask") {
      const isGiven = receipt.grantId !== undefined && grants.has(receipt.grantId);
      const isGranted = isGiven && !mayHaveRun(seen) && !isNarrowed(seen);
      must(isGranted || isApproved(seen, rules.approvers), "it runs with a yes that still holds");
    }
    must(receipt.action !== "deny", "what was denied does not run");
    must(isRepeat !== true || seen.awaited !== undefined, "only an awaited call is repeated");
    seen.awaited = undefined;
    seen.isRunning = true;
    seen.starts += 1;
  }

  const asked = (approvalId: string): Asked => {
    const question = questions.get(approvalId);
    must(question !== undefined, "only an open question is answered");
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
            // The paths of an awaited call are those of the attempt that is repeated.
            const isAwaited = seen.awaited !== undefined;
            if (!isAwaited && before.get(seen.name) !== words(seen.name)) seen.found = undefined;
          }
          return;
        }
        case "session.mode_changed":
          must(event.mode !== mode, "a mode that holds is not told again");
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
          return given(event);
        case "grant.revoked":
          must(grants.delete(event.grantId), "only what was given is taken back");
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
          ({ isOld, request }) => isOld === true && request.question !== "lost-invocation",
        );
      must(!isAskedBefore, "what was asked before is asked again");
      for (const question of questions.values()) question.isOld = true;
      isDoubted = false;
      for (const [grantId, { isOfTheseRules }] of grants) {
        must(isOfTheseRules, `what other rules asked is not allowed by these (${grantId})`);
      }
      for (const { request, shown } of questions.values()) {
        if (request.question !== "run") continue;
        const seen = call(request.subjectId);
        must(shown === words(seen.name), "what is asked about is the tool that there is");
        const rules = rulesOn(seen);
        must(rules.action === "ask", "what is asked about has to be asked about");
        must((request.approvers ?? 1) === rules.approvers, "as many are asked as now have to be");
      }
      for (const { isClosed, receipt } of calls.values()) {
        must(isClosed || receipt?.action !== "deny", "what is denied is over");
      }
      if (happening.type === "paths-resolved") {
        const seen = calls.get(happening.toolCallId);
        const isWanted = seen !== undefined && happening.digest === digestOf(seen);
        const isTaken = events.some(({ event }) => event.type === "tool_call.paths_resolved");
        must(isWanted || !isTaken, "what is found of other arguments is nobody's");
      }
      for (const effect of due(after).effects.values()) {
        if (effect.type !== "resolve-paths") continue;
        const seen = call(effect.toolCallId);
        must(!seen.isClosed && !seen.isRunning, "only what could begin is looked at");
        must(effect.digest === digestOf(seen), "only what it would run with is looked at");
      }
    },
  };
}

function digestOf({ input }: Pick<JudgedCall, "input">): string {
  return sha256(JSON.stringify(input ?? {}));
}

/** Those that `rulesFor` knows apart. */
function rulesOf({ spec }: EventOf<"agent.configured">): string {
  return `${spec.name} ${spec.policy === undefined}`;
}
