import { useId, useMemo, useState, type FormEvent, type ReactNode } from "react";
import type { JsonObject, JsonValue } from "../../../data/json.ts";
import type { Question } from "../../../domain/question.ts";
import { Icon } from "../../parts/icons.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { FieldControl } from "./form-field.tsx";
import {
  createFormValues,
  listFormFields,
  readForm,
  readTextAnswer,
  type FormResult,
  type FormValues,
} from "./answer-form.ts";

export interface QuestionFieldsProps {
  readonly question: Question;
  /** The reason why sending is disabled. Undefined if sending is possible. */
  readonly disabledReason: string | undefined;
  readonly onAnswer: (answer: JsonValue) => void;
  /** The other buttons of the request, placed after the answer button. */
  readonly children: ReactNode;
}

/** The controls for the answer of a question: the choices, a form, or a text field. */
export function QuestionFields(props: QuestionFieldsProps): ReactNode {
  const { choices, schema } = props.question;
  if (choices !== undefined) return <ChoiceButtons {...props} choices={choices} />;
  return schema === undefined ? (
    <TextAnswer {...props} />
  ) : (
    <AnswerForm {...props} schema={schema} />
  );
}

function ChoiceButtons({
  question,
  choices,
  disabledReason,
  onAnswer,
  children,
}: QuestionFieldsProps & { readonly choices: readonly string[] }): ReactNode {
  return (
    <ul className="request-choices" aria-label="Possible answers">
      {choices.map((choice) => (
        <li key={choice}>
          <button
            type="button"
            className="request-button request-choice"
            aria-disabled={disabledReason !== undefined}
            title={disabledReason}
            onClick={() => {
              if (disabledReason === undefined) onAnswer(choice);
            }}
          >
            <UntrustedText text={choice} />
            {choice === question.default && <span className="request-default">default</span>}
          </button>
        </li>
      ))}
      <li className="request-choice-others">{children}</li>
    </ul>
  );
}

function TextAnswer({
  question,
  disabledReason,
  onAnswer,
  children,
}: QuestionFieldsProps): ReactNode {
  const [text, setText] = useState(typeof question.default === "string" ? question.default : "");
  const [problem, setProblem] = useState<string>();
  const id = useId();
  const submit = (): void => {
    const result = readTextAnswer(question, text);
    if (result.ok) onAnswer(result.answer);
    else setProblem(result.problem);
  };
  return (
    <AnswerFrame
      disabledReason={disabledReason}
      problem={problem}
      onSubmit={submit}
      buttons={children}
    >
      <label className="request-label" htmlFor={id}>
        Your answer
      </label>
      <textarea
        id={id}
        className="request-input"
        rows={2}
        value={text}
        aria-invalid={problem !== undefined}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setProblem(undefined);
        }}
        onKeyDown={(event) => {
          const isSubmit = event.key === "Enter" && (event.ctrlKey || event.metaKey);
          if (isSubmit && !event.nativeEvent.isComposing) submit();
        }}
      />
    </AnswerFrame>
  );
}

function AnswerForm({
  question,
  schema,
  disabledReason,
  onAnswer,
  children,
}: QuestionFieldsProps & { readonly schema: JsonObject }): ReactNode {
  const fields = useMemo(() => listFormFields(schema), [schema]);
  const [values, setValues] = useState<FormValues>(() =>
    createFormValues(fields, question.default),
  );
  const [result, setResult] = useState<Extract<FormResult, { readonly ok: false }>>();
  const submit = (): void => {
    const read = readForm(question, fields, values);
    if (read.ok) onAnswer(read.answer);
    else setResult(read);
  };
  return (
    <AnswerFrame
      disabledReason={disabledReason}
      problem={result?.problem}
      onSubmit={submit}
      buttons={children}
    >
      {fields.map((field) => (
        <FieldControl
          key={field.name}
          field={field}
          value={values[field.name]}
          problem={result?.problems.get(field.name)}
          onChange={(value) => {
            const next = { ...values, [field.name]: value };
            setValues(next);
            // A corrected problem vanishes at once. New problems appear when the answer is submitted.
            if (result !== undefined)
              setResult(keepProblems(result, readForm(question, fields, next)));
          }}
        />
      ))}
    </AnswerFrame>
  );
}

type FailedForm = Extract<FormResult, { readonly ok: false }>;

function keepProblems(failed: FailedForm, current: FormResult): FailedForm | undefined {
  if (current.ok) return undefined;
  const remaining = [...current.problems].filter(([name]) => failed.problems.has(name));
  return { ok: false, problems: new Map(remaining) };
}

function AnswerFrame(props: {
  readonly disabledReason: string | undefined;
  readonly problem: string | undefined;
  readonly onSubmit: () => void;
  readonly buttons: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  const { disabledReason, problem } = props;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (disabledReason === undefined) props.onSubmit();
  };
  return (
    <form className="request-form" noValidate onSubmit={submit}>
      {props.children}
      {problem !== undefined && (
        <p className="request-problem" role="alert">
          <Icon name="warning" />
          {problem}
        </p>
      )}
      <div className="request-actions">
        <button
          type="submit"
          className="request-button request-primary"
          aria-disabled={disabledReason !== undefined}
          title={disabledReason}
        >
          Send answer
        </button>
        {props.buttons}
      </div>
    </form>
  );
}
