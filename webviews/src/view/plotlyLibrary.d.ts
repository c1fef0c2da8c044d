/** The part of Plotly that is used here. */
declare module 'plotly.js-strict-dist-min' {
  export function newPlot(
    target: HTMLElement,
    data: unknown,
    layout: unknown,
    config: unknown,
  ): Promise<HTMLElement>;
  export function react(
    target: HTMLElement,
    data: unknown,
    layout: unknown,
    config: unknown,
  ): Promise<HTMLElement>;
  export function toImage(target: HTMLElement, options: { format: string; scale: number }): Promise<string>;
}
