import type { ReactNode } from "react";
import { MODE_DESCRIPTIONS, SESSION_MODES } from "../../../domain/session-mode.ts";
import { pluralize } from "../../../text/pluralize.ts";
import { Badge } from "../../parts/badge.tsx";
import { Icon } from "../../parts/icons.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import type { SessionActions } from "../../state/session-actions.ts";
import type { SessionView } from "../../state/session-view.ts";
import { Disclosure } from "./disclosure.tsx";
import { listPresence, resolveControl, summarizePresence } from "./presence-rows.ts";
import { findRightRefusal, type Participant } from "../send-modes.ts";
import type { Commands } from "../use-commands.ts";

export interface SessionControlsProps {
  readonly view: SessionView;
  readonly actions: SessionActions;
  readonly participant: Participant;
  readonly commands: Commands;
}

/** The session mode, the clients and the grants. */
export function SessionControls(props: SessionControlsProps): ReactNode {
  const { view, participant } = props;
  return (
    <div className="composer-controls">
      <Disclosure label="Session mode" summary={<ModeSummary view={view} />}>
        {(close) => <ModeChoices {...props} onClose={close} />}
      </Disclosure>
      <Disclosure
        label="Clients"
        summary={
          <>
            <Icon name="person" />
            <UntrustedText text={summarizePresence(view, participant.clientId)} />
            {view.clients.length > 1 && (
              <span className="composer-muted">· {pluralize(view.clients.length, "client")}</span>
            )}
          </>
        }
      >
        {() => <Presence {...props} />}
      </Disclosure>
      {view.grants.length > 0 && (
        <Disclosure label="Grants" summary={<span>{pluralize(view.grants.length, "grant")}</span>}>
          {() => <Grants {...props} />}
        </Disclosure>
      )}
    </div>
  );
}

function ModeSummary({ view }: { readonly view: SessionView }): ReactNode {
  const isStrict = view.mode !== "default";
  return (
    <span className={isStrict ? "composer-strict" : undefined}>
      {isStrict ? `${MODE_DESCRIPTIONS[view.mode].name} mode` : "Default mode"}
    </span>
  );
}

function ModeChoices({
  view,
  actions,
  participant,
  commands,
  onClose,
}: SessionControlsProps & { readonly onClose: () => void }): ReactNode {
  const refusal = findRightRefusal("prompt", participant);
  return (
    <>
      <h2 className="composer-popover-title">Session mode</h2>
      <ul className="composer-options">
        {SESSION_MODES.map((mode) => (
          <li key={mode}>
            <button
              type="button"
              className="composer-option"
              aria-pressed={view.mode === mode}
              aria-disabled={refusal !== undefined}
              title={refusal}
              onClick={() => {
                if (refusal !== undefined) return;
                if (view.mode !== mode) void commands.run("mode", () => actions.setMode(mode));
                onClose();
              }}
            >
              <span className="composer-option-name">
                {MODE_DESCRIPTIONS[mode].name}
                {view.mode === mode && <Icon name="check" />}
              </span>
              <span className="composer-muted">{MODE_DESCRIPTIONS[mode].description}.</span>
            </button>
          </li>
        ))}
      </ul>
      {refusal !== undefined && <p className="composer-note">{refusal}</p>}
    </>
  );
}

function Presence({ view, actions, participant, commands }: SessionControlsProps): ReactNode {
  const rows = listPresence(view, participant.clientId);
  const { change, disabledReason } = resolveControl(view, participant);
  const isPending = commands.isPending("control");
  return (
    <>
      <h2 className="composer-popover-title">Clients</h2>
      {rows.length === 0 && <p className="composer-note">No client is attached.</p>}
      <ul className="composer-clients">
        {rows.map((row) => (
          <li key={row.clientId} data-controller={row.isController}>
            <span className="composer-option-name">
              <UntrustedText text={row.name} />
              {row.isSelf && <Badge tone="accent">you</Badge>}
            </span>
            <span className="composer-muted">{row.role}</span>
          </li>
        ))}
      </ul>
      <ControlButton
        change={change}
        disabledReason={disabledReason}
        isPending={isPending}
        onPress={() =>
          void commands.run("control", () =>
            change === "take" ? actions.takeControl() : actions.releaseControl(),
          )
        }
      />
    </>
  );
}

export function ControlButton({
  change,
  disabledReason,
  isPending,
  onPress,
}: {
  readonly change: "take" | "release";
  readonly disabledReason: string | undefined;
  readonly isPending: boolean;
  readonly onPress: () => void;
}): ReactNode {
  const isDisabled = disabledReason !== undefined || isPending;
  return (
    <div>
      <button
        type="button"
        className="composer-button"
        aria-disabled={isDisabled}
        title={disabledReason}
        onClick={() => {
          if (!isDisabled) onPress();
        }}
      >
        {change === "take" ? "Take control" : "Release control"}
      </button>
      {disabledReason !== undefined && <p className="composer-note">{disabledReason}</p>}
    </div>
  );
}

function Grants({ view, actions, participant, commands }: SessionControlsProps): ReactNode {
  const refusal = findRightRefusal("approve", participant);
  return (
    <>
      <h2 className="composer-popover-title">Always allowed in this session</h2>
      <ul className="composer-clients">
        {view.grants.map(({ grantId, label }) => {
          const isDisabled = refusal !== undefined || commands.isPending(`grant ${grantId}`);
          return (
            <li key={grantId} className="composer-grant">
              <UntrustedText text={label} />
              <button
                type="button"
                className="composer-button"
                aria-disabled={isDisabled}
                title={refusal}
                onClick={() => {
                  if (!isDisabled)
                    void commands.run(`grant ${grantId}`, () => actions.revokeGrant(grantId));
                }}
              >
                Revoke
              </button>
            </li>
          );
        })}
      </ul>
    </>
  );
}
