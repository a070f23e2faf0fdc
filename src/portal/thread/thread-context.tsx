import {
  createContext,
  useCallback,
  useContext,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from "react";
import type { ActionResult, SessionActions } from "../state/session-actions.ts";
import type { ApprovalView } from "../state/session-view.ts";
import type { LiveError } from "../../wire/live/live-frames.ts";

/** The settings and actions which the views of items share. */
export interface ThreadServices {
  readonly actions: SessionActions;
  /** Renders the form for an open request to people. */
  readonly renderApproval: (approval: ApprovalView) => ReactNode;
  /** Shows another session, such as a fork, with a text in its composer. */
  readonly onOpenSession: (sessionId: string, draft?: string) => void;
}

interface ThreadProviderProps extends ThreadServices {
  /** Called before the reader opens or closes a card. */
  readonly onToggleCard: () => void;
  readonly children: ReactNode;
}

interface ThreadContextValue extends ThreadServices {
  readonly onToggleCard: () => void;
  /** Whether the reader opened or closed a card, by item. Rows of a virtual list lose their own state. */
  readonly openCards: Map<string, boolean>;
  /** Messages which the reader edits, by item. */
  readonly drafts: Map<string, string>;
}

const ThreadContext = createContext<ThreadContextValue | null>(null);

export function ThreadProvider({
  actions,
  renderApproval,
  onOpenSession,
  onToggleCard,
  children,
}: ThreadProviderProps): ReactNode {
  const [openCards] = useState(() => new Map<string, boolean>());
  const [drafts] = useState(() => new Map<string, string>());
  const value = useMemo(
    () => ({ actions, renderApproval, onOpenSession, onToggleCard, openCards, drafts }),
    [actions, renderApproval, onOpenSession, onToggleCard, openCards, drafts],
  );
  return <ThreadContext value={value}>{children}</ThreadContext>;
}

export function useThread(): ThreadContextValue {
  const value = useContext(ThreadContext);
  if (value === null) throw new Error("A view of an item is not inside a ThreadProvider");
  return value;
}

/** Whether a card is open: as the reader left the card, else the default, which may change with the item. */
export function useOpenCard(
  key: string,
  isOpenByDefault: boolean,
): readonly [boolean, (isOpen: boolean) => void] {
  const { openCards, onToggleCard } = useThread();
  const [, setVersion] = useState(0);
  const setOpen = useCallback(
    (isOpen: boolean) => {
      onToggleCard();
      openCards.set(key, isOpen);
      setVersion((version) => version + 1);
    },
    [key, openCards, onToggleCard],
  );
  return [openCards.get(key) ?? isOpenByDefault, setOpen];
}

export interface RunningAction {
  readonly isRunning: boolean;
  readonly error: LiveError | null;
  /** Runs an action. A second call while one is running is ignored. */
  readonly run: <Value>(
    action: () => Promise<ActionResult<Value>>,
    onSuccess?: (value: Value) => void,
  ) => void;
}

/** Runs one action at a time, and keeps its error until the next. */
export function useAction(): RunningAction {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<LiveError | null>(null);
  const isBusy = useRef(false);
  const run = useCallback<RunningAction["run"]>((action, onSuccess) => {
    if (isBusy.current) return;
    isBusy.current = true;
    setRunning(true);
    setError(null);
    void settleAction(action).then((result) => {
      isBusy.current = false;
      setRunning(false);
      if (result.ok) onSuccess?.(result.value);
      else setError(result.error);
      return undefined;
    });
  }, []);
  return { isRunning, error, run };
}

async function settleAction<Value>(
  action: () => Promise<ActionResult<Value>>,
): Promise<ActionResult<Value>> {
  try {
    return await action();
  } catch {
    const message = "The bridge did not respond";
    return { ok: false, error: { code: "connect_failed", message } };
  }
}

/** The error of an action, announced to screen readers. */
export function ActionError({ error }: { readonly error: LiveError | null }): ReactNode {
  if (error === null) return null;
  return (
    <p className="thread-action-error" role="alert">
      {error.message}
      {error.hint !== undefined && <span className="part-muted"> {error.hint}</span>}
    </p>
  );
}
