import { useId, type ReactNode } from "react";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { toggleChoice, type FormField, type FormValue } from "./answer-form.ts";

export interface FieldControlProps {
  readonly field: FormField;
  readonly value: FormValue | undefined;
  readonly problem: string | undefined;
  readonly onChange: (value: FormValue) => void;
}

/** A field of a form, with its label, description, limits and problem. */
export function FieldControl(props: FieldControlProps): ReactNode {
  const { field, problem } = props;
  const id = useId();
  const noteId = `${id}-note`;
  const note = <FieldNote id={noteId} field={field} problem={problem} />;
  if (field.control === "checks")
    return (
      <fieldset className="request-field" aria-describedby={noteId}>
        <legend className="request-label">
          <FieldLabel field={field} />
        </legend>
        <Checks {...props} />
        {note}
      </fieldset>
    );
  if (field.control === "checkbox")
    return (
      <div className="request-field">
        <label className="request-check">
          <input
            type="checkbox"
            checked={props.value === true}
            aria-describedby={noteId}
            onChange={(event) => props.onChange(event.currentTarget.checked)}
          />
          <FieldLabel field={field} />
        </label>
        {note}
      </div>
    );
  return (
    <div className="request-field">
      <label className="request-label" htmlFor={id}>
        <FieldLabel field={field} />
      </label>
      <EntryControl {...props} id={id} noteId={noteId} />
      {note}
    </div>
  );
}

function FieldLabel({ field }: { readonly field: FormField }): ReactNode {
  return (
    <>
      <UntrustedText text={field.label} />
      {!field.isRequired && <span className="request-optional"> optional</span>}
    </>
  );
}

function FieldNote({
  id,
  field,
  problem,
}: {
  readonly id: string;
  readonly field: FormField;
  readonly problem: string | undefined;
}): ReactNode {
  return (
    <div id={id} className="request-note">
      {field.description !== undefined && (
        <span>
          <UntrustedText text={field.description} kind="prose" />{" "}
        </span>
      )}
      {field.hint !== undefined && problem === undefined && <span>({field.hint})</span>}
      {problem !== undefined && (
        <span className="request-field-problem" role="alert">
          {problem === "required" ? "This field is required" : problem}
        </span>
      )}
    </div>
  );
}

function EntryControl({
  field,
  value,
  problem,
  onChange,
  id,
  noteId,
}: FieldControlProps & { readonly id: string; readonly noteId: string }): ReactNode {
  const text = typeof value === "string" ? value : "";
  const shared = {
    id,
    className: "request-input",
    value: text,
    "aria-describedby": noteId,
    "aria-invalid": problem !== undefined,
    "aria-required": field.isRequired,
  };
  if (field.control === "select")
    return (
      <select {...shared} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{field.isRequired ? "Choose…" : "No answer"}</option>
        {field.choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    );
  if (field.control === "lines")
    return (
      <textarea {...shared} rows={3} onChange={(event) => onChange(event.currentTarget.value)} />
    );
  return (
    <input
      {...shared}
      type={field.inputType}
      inputMode={field.control === "number" ? "decimal" : undefined}
      autoComplete="off"
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function Checks({ field, value, onChange }: FieldControlProps): ReactNode {
  const chosen = Array.isArray(value) ? value : [];
  return (
    <div className="request-checks">
      {field.choices.map((choice) => (
        <label key={choice.value} className="request-check">
          <input
            type="checkbox"
            checked={chosen.includes(choice.value)}
            onChange={() => onChange(toggleChoice(field, value, choice.value))}
          />
          <UntrustedText text={choice.label} />
        </label>
      ))}
    </div>
  );
}
