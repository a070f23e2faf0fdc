import { useMemo, useState, type ReactNode } from "react";
import { createUsageRows, type UsageRow } from "./usage-rows.ts";
import { countInput } from "./describe-turn.ts";
import { MoreButton, TimelineLink } from "./timeline-rail.tsx";
import { formatCount } from "../parts/format-amount.ts";
import { useNow } from "../parts/time.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import { formatDuration } from "../../text/format-duration.ts";
import type { SessionView } from "../state/session-view.ts";
import "./timeline.css";

/** Tokens and time of a session, in total and per turn. */
export function UsagePanel({ view }: { readonly view: SessionView }): ReactNode {
  const isRunning = view.turns.at(-1)?.end === null;
  const now = useNow(isRunning ? 1000 : 3_600_000);
  const rows = useMemo(() => createUsageRows(view, Math.max(now, view.updatedAt)), [view, now]);
  const [limit, setLimit] = useState(TURNS_PER_PAGE);
  const total = rows.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return (
    <section className="usage" aria-label="Usage">
      <dl className="usage-totals">
        <Total name="Turns" value={String(rows.length)} />
        <Total name="Time" value={formatDuration(total)} />
        {view.usage !== null && (
          <>
            <Total name="Tokens in" value={formatCount(countInput(view.usage))} />
            <Total name="from cache" value={formatCount(view.usage.cacheReadTokens)} />
            <Total name="Tokens out" value={formatCount(view.usage.outputTokens)} />
          </>
        )}
      </dl>
      <MoreButton
        count={rows.length - limit}
        onPress={() => setLimit(limit + 4 * TURNS_PER_PAGE)}
      />
      {rows.length > 0 && <UsageTable rows={rows.slice(-limit)} />}
    </section>
  );
}

const TURNS_PER_PAGE = 25;

function Total({ name, value }: { readonly name: string; readonly value: string }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function UsageTable({ rows }: { readonly rows: readonly UsageRow[] }): ReactNode {
  return (
    <table className="usage-table">
      <caption className="part-hidden">Tokens and time per turn</caption>
      <thead>
        <tr>
          <th scope="col">Turn</th>
          <th scope="col">Tokens</th>
          <th scope="col">Time</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.turnId}>
            <th scope="row">
              <TimelineLink seq={row.seq} className="usage-turn" title={row.title}>
                {row.number} <UntrustedText text={row.title} />
              </TimelineLink>
            </th>
            <td>
              <Bars first={row.inputShare} second={row.outputShare} />
              {formatCount(row.input)} · {formatCount(row.output)}
            </td>
            <td>
              <Bars first={row.timeShare} second={0} />
              {formatDuration(row.durationMs)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Decorative: the numbers are text. */
function Bars({ first, second }: { readonly first: number; readonly second: number }): ReactNode {
  return (
    <svg className="usage-bars" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect width={100 * first} height="4" />
      <rect className="usage-second" x={100 * first} width={100 * second} height="4" />
    </svg>
  );
}
