import { useId, type ReactNode } from "react";
import { REMINDER_MODES } from "../../domain/reminder.ts";
import { REMINDER_MODE_TEXTS, type ReminderForm } from "./reminder-form.ts";
import { SEND_MODE_TEXTS, type SendMode } from "./send-modes.ts";

/** How the message is sent. */
export function SendModeChoice({
  modes,
  mode,
  onChange,
}: {
  readonly modes: readonly SendMode[];
  readonly mode: SendMode;
  readonly onChange: (mode: SendMode) => void;
}): ReactNode {
  const name = useId();
  return (
    <fieldset className="composer-modes">
      <legend className="composer-hidden">Send as</legend>
      {modes.map((one) => (
        <label key={one} className="composer-mode" title={SEND_MODE_TEXTS[one].description}>
          <input type="radio" name={name} checked={one === mode} onChange={() => onChange(one)} />
          <span>{SEND_MODE_TEXTS[one].name}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** The settings of a reminder. */
export function ReminderFields({
  form,
  onChange,
}: {
  readonly form: ReminderForm;
  readonly onChange: (form: ReminderForm) => void;
}): ReactNode {
  const id = useId();
  return (
    <div className="composer-reminder">
      <label htmlFor={`${id}-mode`}>When</label>
      <select
        id={`${id}-mode`}
        value={form.mode}
        aria-describedby={`${id}-note`}
        onChange={(event) => {
          const { value } = event.currentTarget;
          const mode = REMINDER_MODES.find((known) => known === value);
          if (mode !== undefined) onChange({ ...form, mode });
        }}
      >
        {REMINDER_MODES.map((mode) => (
          <option key={mode} value={mode}>
            {REMINDER_MODE_TEXTS[mode].name}
          </option>
        ))}
      </select>
      <label htmlFor={`${id}-tags`}>Tags</label>
      <input
        id={`${id}-tags`}
        value={form.tags}
        placeholder="optional"
        autoComplete="off"
        onChange={(event) => onChange({ ...form, tags: event.currentTarget.value })}
      />
      <p id={`${id}-note`} className="composer-note">
        {REMINDER_MODE_TEXTS[form.mode].description}.
      </p>
    </div>
  );
}
