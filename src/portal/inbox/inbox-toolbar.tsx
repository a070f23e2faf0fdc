import type { ReactNode } from "react";
import { Icon } from "../parts/icons.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import { NotificationToggle } from "./notifications.tsx";
import type { InboxFacets, InboxFilter } from "./inbox-list.ts";
import { KIND_NAMES } from "./request/open-request.ts";

export interface InboxToolbarProps {
  readonly total: number;
  readonly facets: InboxFacets;
  readonly filter: InboxFilter;
  readonly onFilter: (filter: InboxFilter) => void;
  readonly isGrouped: boolean;
  readonly onGroup: (isGrouped: boolean) => void;
  readonly onHelp: () => void;
}

/** The heading of the inbox with its filters and settings. */
export function InboxToolbar(props: InboxToolbarProps): ReactNode {
  const { total, isGrouped, onGroup, onHelp } = props;
  return (
    <div className="inbox-toolbar">
      <h1>
        Inbox{" "}
        {total > 0 && (
          <span className="inbox-count" aria-label={`${total} waiting`}>
            {total}
          </span>
        )}
      </h1>
      <div className="inbox-tools">
        {total > 1 && (
          <button
            type="button"
            className="inbox-tool"
            aria-pressed={isGrouped}
            title="Group by session"
            onClick={() => onGroup(!isGrouped)}
          >
            Group
          </button>
        )}
        <NotificationToggle />
        <button type="button" className="inbox-tool" title="Keys (?)" onClick={onHelp}>
          <kbd className="part-key">?</kbd> Keys
        </button>
      </div>
      <Filters {...props} />
    </div>
  );
}

type FiltersProps = Pick<InboxToolbarProps, "total" | "facets" | "filter" | "onFilter">;

/** Nothing if all requests are of one kind and of one agent. */
function Filters(props: FiltersProps): ReactNode {
  const hasKinds = props.facets.kinds.length > 1;
  const hasAgents = props.facets.agents.length > 1;
  if (!hasKinds && !hasAgents) return null;
  return (
    <fieldset className="inbox-filters" aria-label="Filter">
      {hasKinds && <KindFilter {...props} />}
      {hasAgents && <AgentFilter {...props} />}
    </fieldset>
  );
}

function KindFilter({ total, facets, filter, onFilter }: FiltersProps): ReactNode {
  return (
    <>
      <FilterChip
        name="All"
        count={total}
        isActive={filter.kind === null}
        onPress={() => onFilter({ ...filter, kind: null })}
      />
      {facets.kinds.map(({ value, count }) => (
        <FilterChip
          key={value}
          name={KIND_NAMES[value]}
          count={count}
          isActive={filter.kind === value}
          onPress={() => onFilter({ ...filter, kind: filter.kind === value ? null : value })}
        />
      ))}
    </>
  );
}

function AgentFilter({ facets, filter, onFilter }: FiltersProps): ReactNode {
  return (
    <label className="inbox-agent-filter">
      <span className="inbox-hidden">Agent</span>
      <select
        value={filter.agent ?? ""}
        onChange={(event) => {
          const { value } = event.currentTarget;
          onFilter({ ...filter, agent: value === "" ? null : value });
        }}
      >
        <option value="">All agents</option>
        {facets.agents.map(({ value, count }) => (
          <option key={value} value={value}>
            {value} ({count})
          </option>
        ))}
      </select>
    </label>
  );
}

function FilterChip({
  name,
  count,
  isActive,
  onPress,
}: {
  readonly name: string;
  readonly count: number;
  readonly isActive: boolean;
  readonly onPress: () => void;
}): ReactNode {
  return (
    <button type="button" className="inbox-chip" aria-pressed={isActive} onClick={onPress}>
      <UntrustedText text={name} /> <span className="inbox-chip-count">{count}</span>
    </button>
  );
}

export interface BatchBarProps {
  readonly count: number;
  readonly allowable: number;
  readonly deniable: number;
  readonly onBatch: (yes: boolean) => void;
  readonly onClear: () => void;
}

/** The actions for the selected cards. */
export function BatchBar({
  count,
  allowable,
  deniable,
  onBatch,
  onClear,
}: BatchBarProps): ReactNode {
  if (count === 0) return null;
  return (
    <section className="inbox-batch" aria-label="Selected requests">
      <strong>{count} selected</strong>
      <button
        type="button"
        className="request-button request-primary"
        aria-disabled={allowable === 0}
        onClick={() => {
          if (allowable > 0) onBatch(true);
        }}
      >
        Allow {allowable}
      </button>
      <button
        type="button"
        className="request-button request-danger"
        aria-disabled={deniable === 0}
        onClick={() => {
          if (deniable > 0) onBatch(false);
        }}
      >
        Deny {deniable}
      </button>
      {allowable < count && (
        <span className="inbox-batch-note">Only tool calls can be decided together</span>
      )}
      <button type="button" className="inbox-tool" onClick={onClear}>
        <Icon name="cross" /> Clear
      </button>
    </section>
  );
}
