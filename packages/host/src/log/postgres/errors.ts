/** Maps errors of Postgres and of its connection to Cairn errors. None of them shows a password. */
import { type CairnError, isCairnError, RetryableError, TerminalError } from '@cairn/protocol';

/** The database as messages name it: without user and password. */
export function placeOf(url: URL): string {
  return `${url.hostname}:${url.port === '' ? '5432' : url.port}${url.pathname}`;
}

/** The SQLSTATE of a server error, or the code of a connection error. */
function sqlState(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : '';
}

/**
 * The server takes no writes: a standby, or one whose disk is nearly full. A session that began meanwhile stays so after
 * the server takes them again.
 */
const READ_ONLY = '25006';

/** The server has no connection left for another session. */
const TOO_MANY = '53300';

/**
 * Errors after which the outcome of a statement is unknown, or it never began. The connection is of no more use, and the
 * same statement may be sent again on another one.
 */
export function isDisconnected(error: unknown): boolean {
  const code = sqlState(error);
  if (code === READ_ONLY || code === TOO_MANY) return true;
  return /^(CONNECT|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|ENETUNREACH|EHOSTUNREACH|57P0|25P03|08)/.test(code);
}

/** A loss that nothing but the time has told. */
export const isSilent = (error: unknown): boolean => ['ETIMEDOUT', 'CONNECT_TIMEOUT'].includes(sqlState(error));

/** Two transactions waited for each other, or a run was not as a writer expected (CA001): nothing was written. */
export const isTransient = (error: unknown): boolean => ['40P01', '40001', '55P03', 'CA001'].includes(sqlState(error));

const FULL = '53100';
const RIGHTS = new Set(['42501', '28000']);

/** Converts an error for the caller; Cairn errors pass through. */
export function storeError(error: unknown, place: string): CairnError {
  if (isCairnError(error)) return error;
  const code = sqlState(error);
  const said = error instanceof Error ? error.message : String(error);
  if (code === FULL) {
    return new RetryableError('store_full', {
      message: `The database ${place} has no space left (${said}).`,
      hint: 'Free space on the disk of the database. The host goes on by itself once there is room.',
    });
  }
  if (code === '28P01') {
    return new TerminalError('store_failed', {
      message: `The database ${place} refused the user or the password.`,
      hint: 'Check user and password in the URL of the store.',
    });
  }
  if (code === '3D000') {
    return new TerminalError('store_failed', {
      message: `There is no database ${place}.`,
      hint: 'Create it, or correct the URL of the store.',
    });
  }
  if (RIGHTS.has(code)) {
    return new TerminalError('store_failed', {
      message: `The database ${place} does not permit it: ${said}.`,
      hint: 'The user needs CREATE on the database for "cairn migrate", and is then the owner of the schema cairn.',
    });
  }
  if (code === READ_ONLY) {
    return new RetryableError('store_failed', {
      message: `The database ${place} takes no writes (${said}).`,
      hint: 'Name the primary in the URL of the store, or look why the database is read-only: its disk may be nearly full. The host goes on by itself once it takes writes again.',
    });
  }
  if (code === TOO_MANY) {
    return new RetryableError('store_failed', {
      message: `The database ${place} has no connection left (${said}).`,
      hint: 'Each node needs up to 16 connections: raise max_connections, or put a pooler in between. The host goes on by itself once there is one.',
    });
  }
  if (isDisconnected(error)) {
    return new RetryableError('store_failed', {
      message: `The database ${place} cannot be reached (${said}).`,
      hint: 'Check that it runs and that the URL of the store is right. The host goes on by itself once it is back.',
    });
  }
  return new RetryableError('store_failed', {
    message: `The database ${place} failed: ${said}.`,
    hint: 'Look at the log of the database, then try again.',
    cause: error,
  });
}
