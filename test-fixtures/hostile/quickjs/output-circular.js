// JSON carries no circles.
// expect: exception
export default () => {
  const circle = {};
  circle.circle = circle;
  return { out: circle };
};
