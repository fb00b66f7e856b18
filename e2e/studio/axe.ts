/** Looks for findings of axe that keep people from using a screen, in both themes. */
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { type Stage, signedIn } from './stage.ts';

export interface CheckedScreen {
  readonly path: string;
  /** What is there when the screen has its data. */
  readonly ready: string;
}

export async function noSeriousFinding(
  browser: Browser,
  stage: Stage,
  screens: readonly CheckedScreen[],
): Promise<void> {
  // The policy of the page refuses a script from outside, so the check goes past it.
  const context = await browser.newContext({ locale: 'en-US', bypassCSP: true });
  try {
    const page = await signedIn(stage, context);
    for (const { path, ready } of screens) {
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(`${stage.url}${path}`);
      await page.locator(ready).first().waitFor();
      await page.evaluate(axe.source);
      expect([path, 'light', await found(page, ['wcag2a', 'wcag2aa', 'best-practice'])]).toEqual([path, 'light', []]);
      // Only colours differ between the themes.
      await page.emulateMedia({ colorScheme: 'dark' });
      expect([path, 'dark', await found(page, ['color-contrast'])]).toEqual([path, 'dark', []]);
    }
  } finally {
    await context.close();
  }
}

const found = (page: Page, runOnly: readonly string[]): Promise<unknown> =>
  page.evaluate(`axe.run({ runOnly: ${JSON.stringify(runOnly)} }).then(({ violations }) =>
    violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes[0].html))`);
