/** An error as people need it: its code, what happened, what to do next. */
import { CairnError } from '@cairn/protocol';

interface ProblemFacts {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
}

function problemOf(error: unknown): ProblemFacts {
  if (error instanceof CairnError)
    return {
      code: error.code,
      message: error.message,
      hint: error.hint === undefined ? null : commandHint(error.hint),
    };
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: 'internal_error',
    message,
    hint: 'Load the page again. If it happens again, it is a defect of Studio.',
  };
}

/** A host names commands as an installed program has them. With `npx` they work in a checkout too. */
const commandHint = (hint: string): string => hint.replaceAll(/"cairn (?=[a-z])/g, '"npx cairn ');

interface ProblemProps {
  readonly error: unknown;
  /** Tries again. */
  readonly onRetry?: (() => void) | undefined;
}

export function Problem({ error, onRetry }: ProblemProps) {
  const { code, message, hint } = problemOf(error);
  return (
    <div className="problem" role="alert">
      <a href={`/docs/errors/${code}`} target="_blank" rel="noreferrer">
        <code>{code}</code>
      </a>
      <span>{message}</span>
      {hint !== null && <span className="next">{hint}</span>}
      {onRetry !== undefined && (
        <span>
          <button type="button" className="button" onClick={onRetry}>
            Try again
          </button>
        </span>
      )}
    </div>
  );
}
