declare module 'plotly.js-strict-dist-min' {
  /** The part of Plotly that is used here. */
  interface PlotlyLibrary {
    newPlot(target: HTMLElement, data: unknown, layout: unknown, config: unknown): Promise<HTMLElement>;
    react(target: HTMLElement, data: unknown, layout: unknown, config: unknown): Promise<HTMLElement>;
    toImage(target: HTMLElement, options: { format: string; scale: number }): Promise<string>;
  }
  const Plotly: PlotlyLibrary;
  export default Plotly;
}
