import type { AgentFacts } from "../domain/agent-event.ts";
import { SpanlineError } from "../domain/errors.ts";
import type { SteadyClock } from "../platform/clock.ts";
import type { SessionRecord, Store } from "../store/store.ts";
import type { Agent } from "./agent.ts";
import { unknownSession, type OpenedDriver, type Opening } from "./begin-driver.ts";
import { checkOpening, upstreamIdFor } from "./check-opening.ts";
import { copiedFrom, type Copied } from "./copied-from.ts";
import type { Driver } from "./driver.ts";
import { firstInput } from "./first-input.ts";
import { newId, type Seed } from "./new-id.ts";
import { sendCommand } from "./send-command.ts";
import { folderOf, otherFolders } from "./session-folders.ts";
import type { SessionReaders } from "./session-readers.ts";
import type { OpenSession, Sessions } from "./sessions.ts";

/** Works with the driver of a session that is in the log. The session stays in memory until the work is done. */
export type WithDriver = <Result>(
  sessionId: string,
  work: (driver: Driver) => Promise<Result> | Result,
) => Promise<Result>;

interface OpeningPlace {
  readonly store: Store;
  readonly clock: SteadyClock;
  readonly agents: readonly Agent[];
  readonly seed: Seed;
  readonly readers: SessionReaders;
  readonly withDriver: WithDriver;
  /** Opens a session with its driver; undefined where somebody else was opening it. */
  readonly openDriver: (sessionId: string, opening: Opening) => Promise<OpenedDriver | undefined>;
}

/** How sessions begin: empty, or with their first prompt. */
export function sessionOpening(place: OpeningPlace): Pick<Sessions, "open" | "begin"> {
  const { store, clock, agents, seed, readers, withDriver } = place;

  const idOf = ({ sessionId }: OpenSession): string =>
    sessionId ?? newId("ses", clock.now(), seed());
  const known = async ({ sessionId }: OpenSession): Promise<SessionRecord | undefined> =>
    sessionId === undefined ? undefined : store.session(sessionId);

  async function openNew(
    sessionId: string,
    given: OpenSession,
    first?: Opening["first"],
  ): Promise<OpenedDriver | undefined> {
    const agent = agentNamed(agents, given.agent);
    const wanted = await withCopy(store, given);
    const folders = await otherFolders(agent, wanted.folders ?? []);
    const workingDirectory = await folderOf(agent, wanted);
    const opened = opening(sessionId, { ...wanted, ...workingDirectory, folders });
    return place.openDriver(sessionId, { agent, opened, ...(first !== undefined && { first }) });
  }

  return {
    async open(wanted) {
      checkOpening(wanted);
      agentNamed(agents, wanted.agent);
      const before = await known(wanted);
      if (before !== undefined) return before;
      const sessionId = idOf(wanted);
      await openNew(sessionId, wanted);
      return recordOf(store, sessionId);
    },
    async begin(wanted, first) {
      checkOpening(wanted);
      const agent = agentNamed(agents, wanted.agent);
      const before = await known(wanted);
      const sessionId = idOf(wanted);
      const principal = wanted.principal.id;
      if (before === undefined) {
        const opened = await openNew(sessionId, wanted, (facts) => firstInput(first, facts));
        const { incarnation, reply } = opened ?? {};
        if (incarnation !== undefined && reply !== undefined)
          return { sessionId, incarnation, agent: agent.facts.name, principal, seq: 0, reply };
      }
      const record = before ?? (await recordOf(store, sessionId));
      if (record.principal !== principal || record.label !== (wanted.label ?? null)) return record;
      return withDriver(sessionId, async (driver) => {
        const prompt = first.prompt(factsOf(driver, sessionId));
        const reply = await sendCommand(prompt, first.from, { sessionId, store, driver, readers });
        return { ...record, reply };
      });
    },
  };
}

/** What was said in the session that it is a copy of is its history, and no more is allowed in it. */
async function withCopy(store: Store, given: OpenSession): Promise<OpenSession & Partial<Copied>> {
  if (given.copyOf === undefined) return given;
  const wanted = { ...given, ...(await copiedFrom(store, given.copyOf)) };
  checkOpening(wanted);
  return wanted;
}

function opening(sessionId: string, wanted: OpenSession & Partial<Copied>) {
  const {
    principal,
    title,
    metadata,
    workingDirectory,
    folders = [],
    label,
    history,
    mode,
  } = wanted;
  const upstreamId = upstreamIdFor(sessionId, wanted);
  return {
    type: "opened",
    principal: principal.id,
    ...(title !== undefined && { title }),
    ...(workingDirectory !== undefined && { workingDirectory }),
    ...(folders.length > 0 && { folders }),
    ...(metadata !== undefined && { metadata }),
    ...(label !== undefined && { label }),
    ...(upstreamId !== undefined && { upstreamId }),
    ...(history !== undefined && { history }),
    ...(mode !== undefined && { mode }),
  } as const;
}

export function factsOf({ state }: Driver, sessionId: string): AgentFacts {
  if (state.agent === null) throw unknownSession(sessionId);
  return state.agent.facts;
}

/** The agent of this name, or the default. */
export function agentNamed(agents: readonly Agent[], name: string | undefined): Agent {
  const agent = name === undefined ? agents[0] : agents.find(({ facts }) => facts.name === name);
  if (agent !== undefined) return agent;
  const known = agents.map(({ facts }) => facts.name).join(", ");
  throw new SpanlineError("not_found", `There is no agent "${name}" here; there is: ${known}`);
}

async function recordOf(store: Store, sessionId: string): Promise<SessionRecord> {
  const record = await store.session(sessionId);
  if (record === undefined) throw unknownSession(sessionId);
  return record;
}
