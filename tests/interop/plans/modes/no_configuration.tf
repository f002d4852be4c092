# A folder without configuration, or with an empty one.
#= plan
# nothing
#= plan -destroy
