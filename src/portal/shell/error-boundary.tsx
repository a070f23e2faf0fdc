import { Component, type ReactNode } from "react";

interface BoundaryProps {
  /** The name of the pane, such as `conversation`. */
  readonly pane: string;
  /** A new value shows the pane again. */
  readonly resetKey?: string;
  readonly children: ReactNode;
}

interface BoundaryState {
  readonly error: Error | null;
  readonly resetKey: string | undefined;
}

/** Shows an error in place of a broken pane. The other panes keep working. */
export class ErrorBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { error: null, resetKey: this.props.resetKey };

  static getDerivedStateFromError(error: unknown): Partial<BoundaryState> {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  static getDerivedStateFromProps(
    { resetKey }: BoundaryProps,
    state: BoundaryState,
  ): BoundaryState | null {
    return resetKey === state.resetKey ? null : { error: null, resetKey };
  }

  override render(): ReactNode {
    const { error } = this.state;
    const { pane, children } = this.props;
    if (error === null) return children;
    return (
      <div className="shell-broken" role="alert">
        <h2>The {pane} cannot be shown</h2>
        <p>This is an error of the portal. The session itself is not affected.</p>
        <pre>{error.message.slice(0, MAX_MESSAGE_LENGTH)}</pre>
        <button
          type="button"
          className="shell-button"
          onClick={() => this.setState({ error: null })}
        >
          Try again
        </button>
      </div>
    );
  }
}

const MAX_MESSAGE_LENGTH = 2000;
