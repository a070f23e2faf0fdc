import {
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type ClipboardEvent,
  type KeyboardEvent,
  type ReactNode,
} from "react";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import {
  COMPOSITION_KEY_CODE,
  readComposerKey,
  type ComposerKeyAction,
  type ComposerKeyState,
} from "./composer-keys.ts";
import {
  applyCompletion,
  completeCommand,
  findCommand,
  type CommandOption,
} from "./composer-commands.ts";

export interface MessageFieldProps {
  readonly text: string;
  readonly placeholder: string;
  readonly commands: readonly CommandOption[];
  readonly isRunning: boolean;
  /** While the message is sent, the text stays and cannot be changed. */
  readonly isReadOnly: boolean;
  readonly describedBy: string;
  /** Changes when the field should get the focus. */
  readonly focusKey: string;
  readonly onChange: (text: string) => void;
  readonly onSend: () => void;
  readonly onCancelTurn: () => void;
  readonly onFiles: (files: readonly File[]) => void;
}

/** The field of the message. The field grows with its text, up to the limit in the style sheet. */
export function MessageField(props: MessageFieldProps): ReactNode {
  const { text, commands, isRunning, onChange } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const completion = useCompletion(text, commands);
  const { entries, index } = completion;
  useLayoutEffect(() => growField(field.current));
  useEffect(() => {
    if (props.focusKey !== "") field.current?.focus();
  }, [props.focusKey]);

  const complete = (command: CommandOption): void => {
    onChange(applyCompletion(command));
    field.current?.focus();
  };
  const handleKey = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    const action = readAction(event, { hasCompletion: entries.length > 0, isRunning });
    if (action === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const chosen = entries[index];
    if (action === "send") props.onSend();
    else if (action === "cancel-turn") props.onCancelTurn();
    else if (action === "close-completion") completion.close();
    else if (action === "complete" && chosen !== undefined) complete(chosen);
    else completion.move(action === "next-completion" ? 1 : -1);
  };
  return (
    <div className="composer-field-box">
      {entries.length > 0 && (
        <CompletionList id={id} entries={entries} index={index} onChoose={complete} />
      )}
      <textarea
        ref={field}
        className="composer-field"
        aria-label="Message"
        aria-describedby={props.describedBy}
        aria-autocomplete="list"
        aria-controls={entries.length > 0 ? id : undefined}
        aria-activedescendant={entries.length > 0 ? `${id}-${index}` : undefined}
        rows={1}
        value={text}
        readOnly={props.isReadOnly}
        placeholder={props.placeholder}
        enterKeyHint="send"
        onChange={(event) => {
          completion.open();
          onChange(event.currentTarget.value);
        }}
        onKeyDown={handleKey}
        onPaste={(event) => passFiles(event, props.onFiles)}
      />
      <CommandHint command={findCommand(text, commands)?.command} />
    </div>
  );
}

function readAction(
  { key, shiftKey, ctrlKey, metaKey, nativeEvent }: KeyboardEvent,
  state: Pick<ComposerKeyState, "hasCompletion" | "isRunning">,
): ComposerKeyAction | undefined {
  const isComposing = nativeEvent.isComposing || nativeEvent.keyCode === COMPOSITION_KEY_CODE;
  return readComposerKey(
    { key, shiftKey, hasModifier: ctrlKey || metaKey, isComposing },
    { ...state, isTouch: isTouchKeyboard() },
  );
}

/** Pasted files become attachments. Pasted text goes into the field. */
function passFiles(event: ClipboardEvent, onFiles: (files: readonly File[]) => void): void {
  const files = [...event.clipboardData.files];
  if (files.length === 0) return;
  event.preventDefault();
  onFiles(files);
}

function CommandHint({ command }: { readonly command: CommandOption | undefined }): ReactNode {
  if (command === undefined) return null;
  return (
    <p className="composer-note composer-command-hint">
      <code>/{command.name}</code>
      {command.hint !== undefined && (
        <code>
          <UntrustedText text={command.hint} />
        </code>
      )}
      <UntrustedText text={command.description} />
    </p>
  );
}

function isTouchKeyboard(): boolean {
  return window.matchMedia("(pointer: coarse) and (hover: none)").matches;
}

interface Completion {
  readonly entries: readonly CommandOption[];
  readonly index: number;
  readonly move: (step: 1 | -1) => void;
  readonly close: () => void;
  readonly open: () => void;
}

function useCompletion(text: string, commands: readonly CommandOption[]): Completion {
  const [position, setPosition] = useState(0);
  const [isClosed, setClosed] = useState(false);
  const entries = isClosed ? [] : completeCommand(text, commands);
  const index = Math.min(position, Math.max(0, entries.length - 1));
  return {
    entries,
    index,
    move: (step) => setPosition((index + step + entries.length) % Math.max(1, entries.length)),
    close: () => setClosed(true),
    open() {
      setClosed(false);
      setPosition(0);
    },
  };
}

/** Sets the height of the field to the height of its text. */
function growField(element: HTMLTextAreaElement | null): void {
  if (element === null) return;
  element.style.height = "auto";
  element.style.height = `${element.scrollHeight}px`;
}

/* oxlint-disable jsx-a11y/prefer-tag-over-role -- a datalist belongs to a single line and cannot show descriptions */
function CompletionList({
  id,
  entries,
  index,
  onChoose,
}: {
  readonly id: string;
  readonly entries: readonly CommandOption[];
  readonly index: number;
  readonly onChoose: (command: CommandOption) => void;
}): ReactNode {
  return (
    <div className="composer-completion" id={id} role="listbox" aria-label="Commands">
      {entries.map((command, at) => (
        <button
          key={command.name}
          id={`${id}-${at}`}
          type="button"
          role="option"
          tabIndex={-1}
          aria-selected={at === index}
          className="composer-completion-entry"
          // The field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(command)}
        >
          <span className="composer-completion-name">
            /<UntrustedText text={command.name} />
            {command.hint !== undefined && (
              <span className="composer-muted">
                {" "}
                <UntrustedText text={command.hint} />
              </span>
            )}
          </span>
          <span className="composer-muted">
            <UntrustedText text={command.description} />
          </span>
        </button>
      ))}
    </div>
  );
}
