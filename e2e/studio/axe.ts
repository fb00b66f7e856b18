/** Looks for findings of axe that keep people from using a screen, in both themes. */
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type Stage, signedIn } from './stage.ts';

export interface CheckedScreen {
  readonly name: string;
  readonly path: () => string | Promise<string>;
  /** What is there when the screen has its data. */
  readonly ready: string;
}

/** One test for each screen, so that none takes long. They share a page, which signs in once. */
export function axeTests(
  open: () => { readonly browser: Browser; readonly stage: Stage },
  screens: readonly CheckedScreen[],
): void {
  let shared: Promise<Page> | null = null;
  test.for(screens)('axe finds nothing serious in $name, light or dark', async ({ path, ready }) => {
    const { browser, stage } = open();
    shared ??= checkedPage(browser, stage);
    const page = await shared;
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`${stage.url}${await path()}`);
    await page.locator(ready).first().waitFor();
    await page.locator('.bone').first().waitFor({ state: 'detached' });
    await page.evaluate(axe.source);
    expect(await found(page, ['wcag2a', 'wcag2aa', 'best-practice'])).toEqual([]);
    // Only colours differ between the themes.
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await found(page, ['color-contrast'])).toEqual([]);
  });
}

/** The policy of the page refuses a script from outside, so the check goes past it. Its browser closes it. */
const checkedPage = async (browser: Browser, stage: Stage): Promise<Page> =>
  signedIn(stage, await browser.newContext({ locale: 'en-US', bypassCSP: true }));

/** Findings alone: what passed is not collected. */
const found = (page: Page, runOnly: readonly string[]): Promise<unknown> =>
  page.evaluate(`axe.run({ runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'] }).then(({ violations }) =>
    violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes[0].html))`);
