import type { Draft } from "../domain/envelope.ts";
import { bindAgent } from "./bind-agent.ts";
import type { CommandReply } from "../domain/session-command.ts";
import { configure } from "./configure.ts";
import { requestOfHost } from "./clients/host-requests.ts";
import { takeCommand } from "./take-command.ts";
import type { Input } from "./input.ts";
import { knownSaid } from "./known-said.ts";
import { recover } from "./recover.ts";
import type { SessionState } from "./state.ts";
import {
  takeExamination,
  takeProgramEnd,
  takeToolEnd,
  takeToolNews,
} from "./tools/take-tool-input.ts";
import { repeatAwaited } from "./tools/awaited-calls.ts";
import { judgeStart } from "./tools/judge-start.ts";
import { advanceTurn } from "./turn/advance-turn.ts";
import { takeCallFailure, takeSaid } from "./turn/call-said.ts";
import { noteProblems } from "./turn/note-problems.ts";
import { settle } from "./turn/open-upstream.ts";
import { passTime } from "./pass-time.ts";
import { startWork, type Work } from "./work.ts";

export interface Decided {
  readonly events: readonly Draft[];
  /** The state that they lead to. */
  readonly state: SessionState;
  /** For a command. */
  readonly reply?: CommandReply;
}

/** What an input leads to. Nothing happens here: the events are what is to be written down, and then done. */
export function decide(state: SessionState, input: Input): Decided {
  if (input.type === "opened" && input.first !== undefined) return decideBoth(state, input);
  const work = startWork(state, input);
  const reply = take(work, input);
  // A refused command changes nothing, not even what time alone would change.
  if (work.state.agent !== null && reply?.status !== "refused") advanceTurn(work);
  const replied = reply === undefined ? {} : { reply: withTurn(reply, work) };
  return { events: work.drafts, state: work.state, ...replied };
}

/** To open a session mints no ids, so that both may do with one seed. */
function decideBoth(state: SessionState, input: Extract<Input, { type: "opened" }>): Decided {
  const { first, ...opened } = input;
  const { at, seed } = input;
  const before = decide(state, opened);
  if (first === undefined) return before;
  const after = decide(before.state, { ...first, at, seed });
  return { ...after, events: [...before.events, ...after.events] };
}

/** A prompt that did not have to wait has begun its turn in this same decision. */
function withTurn(reply: CommandReply, { state }: Work): CommandReply {
  const { current } = state.turn;
  if (reply.status === "refused" || reply.promptId === undefined || current === null) return reply;
  return current.promptId === reply.promptId ? { ...reply, turnId: current.turnId } : reply;
}

function take(work: Work, input: Input): CommandReply | undefined {
  switch (input.type) {
    case "opened": {
      const { agent, principal, title, workingDirectory, label, upstreamId, history, mode } = input;
      const { folders = [], metadata } = input;
      work.emit({
        type: "session.opened",
        agent: agent.facts.name,
        principal,
        ...(title !== undefined && { title }),
        ...(workingDirectory !== undefined && { workingDirectory }),
        ...(label !== undefined && { label }),
        ...(upstreamId !== undefined && { upstreamId }),
      });
      if (metadata !== undefined) work.emit({ type: "session.metadata_changed", metadata });
      if (folders.length > 0) work.emit({ type: "session.extended", folders });
      bindAgent(work, agent);
      if (history !== undefined) work.emit({ type: "history.given", messages: history });
      if (mode !== undefined) configure(work, mode);
      return undefined;
    }
    case "commanded":
      return takeCommand(work, input);
    case "call-said":
      takeSaid(work, input.callId, input.said.map(knownSaid));
      return undefined;
    case "call-failed":
      takeCallFailure(work, input);
      return undefined;
    case "tool-examined":
      takeExamination(work, input);
      return undefined;
    case "tool-spawned":
    case "tool-progressed":
      takeToolNews(work, input);
      return undefined;
    case "program-ended":
      takeProgramEnd(work, input);
      return undefined;
    case "tool-ended":
      takeToolEnd(work, input);
      return undefined;
    case "settled":
      settle(work, input);
      return undefined;
    case "host-wanted":
      requestOfHost(work, input);
      return undefined;
    case "agent-changed":
      if (work.state.agent?.digest !== input.agent.digest) bindAgent(work, input.agent);
      if (input.starting !== undefined) judgeStart(work, input.starting);
      repeatAwaited(work);
      return undefined;
    case "equipment-failed":
      noteProblems(work, input.problems);
      return undefined;
    case "time-passed":
      passTime(work);
      return undefined;
    case "recovered":
      recover(work, input);
      return undefined;
    default:
      return input satisfies never;
  }
}
