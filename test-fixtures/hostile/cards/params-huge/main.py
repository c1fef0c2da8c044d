from attack import params

print(len(params["padding"]))
