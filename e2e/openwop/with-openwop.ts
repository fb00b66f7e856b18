/** Suites that need the published OpenWOP schemas and fixtures. Without them, the suite reports that it was skipped. */
import { describe, test } from 'vitest';
import { type OpenwopData, openwopData } from './openwop-data.ts';

const leftOut = 'left out: the OpenWOP schemas and fixtures are not beside this checkout, in ../shared/openwop';

export function withOpenwop(
  suite: string,
  body: (data: OpenwopData) => void,
  data: OpenwopData | null = openwopData(),
): void {
  if (data !== null) {
    describe(suite, () => body(data));
    return;
  }
  process.stderr.write(`${suite}: ${leftOut}\n`);
  describe.runIf(false)(suite, () => {
    test(leftOut, () => undefined);
  });
}
