/**
 * Limits attempts to authenticate. An address with too many failed ones is refused before its credential is checked, so
 * that it does not learn whether a further guess is right.
 */
import { isCairnError } from '@cairn/protocol';
import type { Limits } from './limits.ts';

/** Checks a credential from an address. Throws `rate_limited`, or what the check throws. */
export type CredentialAttempt = <Result>(address: string, check: () => Result) => Result;

export function createAttempt(limits: Limits): CredentialAttempt {
  /** Counts a wrong credential, but not an expired one, which was genuine. Returns the error to send. */
  const failed = (error: unknown, address: string): unknown => {
    if (!isCairnError(error, 'unauthenticated')) return error;
    try {
      limits.failure(address);
      return error;
    } catch (tooMany) {
      return tooMany;
    }
  };

  /** Other attempts may have failed while this check was under way, so a right credential is refused then too. */
  const settled = async (address: string, checking: Promise<unknown>): Promise<unknown> => {
    let result: unknown;
    try {
      result = await checking;
    } catch (error) {
      throw failed(error, address);
    }
    limits.checkAddress(address);
    return result;
  };

  return <Result>(address: string, check: () => Result): Result => {
    limits.checkAddress(address);
    let result: Result;
    try {
      result = check();
    } catch (error) {
      throw failed(error, address);
    }
    return result instanceof Promise ? (settled(address, result) as Result) : result;
  };
}
